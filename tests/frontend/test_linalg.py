"""The operators as IR: golden text in both forms, names, places, and primitives on the loops and beside operations."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import allo
from allo.ir.linalg import lower_linalg
from allo.ir.module import Module
from allo.ir.types import float32, int8, int32, uint8
from allo.ir.walk import entry_block, operations

GOLDEN = Path(__file__).parent / "golden"


def library_matmul(A: int8[4, 8], B: int8[8, 6], C: uint8[8, 6]) -> (int32[4, 6], int32[4, 6]):
    D: int32[4, 6] = allo.matmul(A, B)
    E: int32[4, 6] = A @ C
    return D, E


def library_conv2d(X: float32[1, 3, 8, 8], W: float32[4, 3, 3, 3]) -> float32[1, 4, 3, 3]:
    return allo.conv2d(X, W, stride=2)


def library_softmax(A: float32[4, 8]) -> float32[4, 8]:
    return allo.softmax(A * 2.0)


KERNELS = [library_matmul, library_conv2d, library_softmax]


@pytest.mark.parametrize("lower", [False, True], ids=["linalg", "loops"])
@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.__name__)
def test_text(kernel: Any, lower: bool) -> None:
    module = allo.customize(kernel, lower_linalg=lower).ir
    name = f"{kernel.__name__}_loops.mlir" if lower else f"{kernel.__name__}.mlir"
    assert str(module) == (GOLDEN / name).read_text()
    assert str(Module.parse(str(module))) == str(module)


@pytest.mark.parametrize("lower", [False, True], ids=["linalg", "loops"])
def test_operations_have_the_place_of_the_call(lower: bool) -> None:
    module = allo.customize(library_softmax, lower_linalg=lower).ir
    block = entry_block(module.function("library_softmax"))
    assert block is not None
    line = library_softmax.__code__.co_firstlineno + 1
    assert {re.sub(r":\d+\)$", "", str(op.location)) for op in operations(block)} == {f'loc("{__file__}":{line}'}


def test_lowering_a_module_is_compiling_with_loops() -> None:
    for kernel in KERNELS:
        module = allo.customize(kernel).ir
        lower_linalg(module)
        module.verify()
        assert str(module) == str(allo.customize(kernel, lower_linalg=True).ir)


def test_operations_without_names_get_some() -> None:
    module = Module.parse(
        """module attributes {allo.top = "f"} {
          func.func @f(%A: memref<4x?xf32>, %B: memref<?x4xf32>, %C: memref<4x4xf32>) {
            linalg.matmul ins(%A, %B : memref<4x?xf32>, memref<?x4xf32>) outs(%C : memref<4x4xf32>)
            linalg.matmul ins(%A, %B : memref<4x?xf32>, memref<?x4xf32>) outs(%C : memref<4x4xf32>)
            return
          }
        }"""
    )
    lower_linalg(module)
    module.verify()
    assert re.findall(r'allo.nest = "(\w+)"', str(module)) == ["matmul_0", "matmul_1"]
    assert re.findall(r'allo.name = "(\w+)"', str(module)) == ["i2", "i1", "i0"] * 2


# -- primitives on the loops ----------------------------------------------------------------------


def square(A: float32[16, 16], B: float32[16, 16]) -> float32[16, 16]:
    C: float32[16, 16] = allo.matmul(A, B)
    return C


def test_primitives_apply_to_the_loops_of_an_operator() -> None:
    s = allo.customize(square, lower_linalg=True)
    loops = s.get_loops()["matmul_0"]
    s.split(loops["j"], 4)
    s.reorder(loops["k"], "j.inner")
    s.buffer_at(s.C, axis=loops["i"])
    s.pipeline("j.outer")
    assert [loop.name for loop in s.get_loops()["matmul_0"]][:4] == ["i", "j.inner_init", "j.outer", "k"]
    a, b = np.random.default_rng(0).random((2, 16, 16), np.float32)
    np.testing.assert_allclose(s.build()(a, b), a @ b, rtol=1e-5)


def in_a_loop(A: float32[3, 4, 4], B: float32[4, 4], C: float32[3, 4, 4]):
    for i in range(3):
        T: float32[4, 4] = A[i] @ B
        C[i] = T


def test_names_in_a_loop_are_unique() -> None:
    s = allo.customize(in_a_loop, lower_linalg=True)
    names = [loop.name for loop in s.get_loops()["S_i_0"]]
    assert len(set(names)) == len(names) and {"i", "i_1", "j", "k"} <= set(names)
    assert [loop.name for loop in s.get_loops()["matmul_0"]] == ["i_1", "j", "k"]


# -- primitives beside operations -----------------------------------------------------------------


def beside(A: float32[4, 4], B: float32[4, 4], C: float32[4, 4], D: float32[4, 4, 4]):
    for b in range(4):
        C[:] = A @ B
        for i, j in allo.grid(4, 4):
            D[b, i, j] = C[i, j]


def test_a_loop_that_shares_the_result_of_an_operator_is_not_parallel() -> None:
    s = allo.customize(beside)
    with pytest.raises(allo.ScheduleError, match=r"loop 'b' cannot run in parallel: .*'?C\["):
        s.parallel("b")
    assert s.steps == ()


def test_a_loop_with_an_array_of_its_own_is_parallel() -> None:
    s = allo.customize(in_a_loop)
    s.parallel("i")
    a, b = np.random.default_rng(0).random((3, 4, 4), np.float32), np.eye(4, dtype=np.float32)
    c = np.zeros_like(a)
    s.build()(a, b, c)
    np.testing.assert_array_equal(c, a)


def test_an_array_that_an_operator_uses_is_not_buffered_elsewhere() -> None:
    s = allo.customize(beside)
    with pytest.raises(allo.ScheduleError, match=r"'C' cannot be buffered here: .* operator on the whole array"):
        s.buffer_at(s.C, axis="b")


def test_partitions_reach_operations() -> None:
    s = allo.customize(square)
    s.partition(s.A, partition_type=allo.Partition.Cyclic, dim=2, factor=4)
    s.partition(s.B, partition_type=allo.Partition.Complete, dim=1)
    a, b = np.random.default_rng(0).random((2, 16, 16), np.float32)
    np.testing.assert_allclose(s.build()(a, b), a @ b, rtol=1e-5)


def kernel_that_writes(X: float32[4, 4], Y: float32[4, 4]):
    Y[:] = allo.exp(X)


def test_arguments_that_an_operation_writes_are_written() -> None:
    def caller(A: float32[4, 4]):
        kernel_that_writes(A, A)

    with pytest.raises(allo.KernelError, match="'kernel_that_writes' writes 'Y'"):
        allo.customize(caller)
    x = np.ones((4, 4), np.float32)
    with pytest.raises(ValueError, match="share memory"):
        allo.customize(kernel_that_writes).build()(x, x)
