"""What is said when a schedule cannot be built for a target."""

from __future__ import annotations

from typing import Any

import pytest

import allo
from allo.errors import TargetError
from allo.ir.types import int32

OPTIONS = "its options: fastmath, contract, unbounded, check, timed, timeout, threads, subnormals, rolled"


def kernel(A: int32[4]):
    A[0] = 1


def refusal(function: Any, **options: Any) -> str:
    with pytest.raises(TargetError) as caught:
        allo.customize(function).build(**options)
    return str(caught.value)


def test_unknown_target() -> None:
    message = refusal(kernel, target="quantum")
    targets = "llvm, simulator, vhls, xls, vitis_hls, vivado_hls, pynq, ihls, catapult, tapa, rtl, aie, npu-model"
    targets += ", aie-mlir"
    assert message == f"there is no target 'quantum'\n  hint: the targets are {targets}"


def test_misspelt_target() -> None:
    assert refusal(kernel, target="lvm") == "there is no target 'lvm'\n  hint: did you mean 'llvm'?"


def test_unknown_mode() -> None:
    message = refusal(kernel, target="llvm", mode="csim")
    assert message == "target 'llvm' has no mode 'csim'\n  hint: its modes: none"


def test_unknown_option() -> None:
    message = refusal(kernel, fast_math=True)
    assert message == f"target 'llvm' takes no option 'fast_math'\n  hint: {OPTIONS}"


def test_project_for_a_target_without_one() -> None:
    message = refusal(kernel, project="out")
    assert message == f"target 'llvm' takes no option 'project'\n  hint: {OPTIONS}"
