"""Rewrites that a build for HLS names: never unasked, and with the same bits."""

from __future__ import annotations

import shutil

import numpy as np
import pytest

import allo
from allo.errors import TargetError
from allo.ir.types import int32
from allo.timing.rewrites import NAMES


def kernel(A: int32[16, 8], y: int32[16], D: int32[8, 16]):
    for i in range(16):
        for u in range(8):
            if A[i, u] > 2:
                y[i] += A[i, u] * 7
    for t in range(128):
        D[t // 16, t % 16] = A[t % 16, 3] // y[t // 16]


def scheduled() -> allo.Schedule:
    s = allo.customize(kernel)
    s.pipeline("S_i_0.i")
    return s


@pytest.mark.parametrize("target", ["vhls", "vitis_hls", "catapult"])
def test_nothing_is_rewritten_unasked(target: str) -> None:
    s = scheduled()
    plain = s.build(target=target).hls_code
    assert plain == s.build(target=target, rewrites=[]).hls_code
    assert plain != s.build(target=target, rewrites=["allo-promote-scalars", "allo-if-conversion"]).hls_code


@pytest.mark.skipif(shutil.which("g++") is None, reason="the simulation needs g++")
def test_the_simulation_has_the_same_bits() -> None:
    s = scheduled()
    draw = np.random.default_rng(5)
    A, y = draw.integers(-9, 9, (16, 8)).astype(np.int32), draw.integers(1, 9, 16).astype(np.int32)
    found = []
    for built in (s.build(), s.build(target="vitis_hls", mode="csim", rewrites=NAMES)):
        given = [A.copy(), y.copy(), np.zeros((8, 16), np.int32)]
        built(*given)
        found.append(given)
    assert all(np.array_equal(one, other) for one, other in zip(*found, strict=True))


def test_names_that_no_rewrite_has() -> None:
    with pytest.raises(TargetError) as error:
        scheduled().build(target="vhls", rewrites=["allo-promote-scalar"])
    assert str(error.value) == (
        "no rewrite is called 'allo-promote-scalar'\n  hint: did you mean 'allo-promote-scalars'?"
    )


@pytest.mark.parametrize("given", ["allo-promote-scalars", [3]])
def test_what_is_no_list_of_names(given: object) -> None:
    with pytest.raises(TargetError) as error:
        scheduled().build(target="vhls", rewrites=given)
    assert str(error.value) == (
        f'rewrites must be a list of names, got {given!r}\n  hint: as rewrites=["allo-forward-stores"]'
    )


def test_checks_are_of_the_kernel() -> None:
    with pytest.raises(TargetError) as error:
        scheduled().build(target="vitis_hls", mode="csim", check=True, rewrites=["cse"])
    assert str(error.value) == (
        "checks are of the kernel as it is written, and rewrites compute what its branches do not\n"
        "  hint: leave out check=True or rewrites"
    )


def test_the_cpu_takes_no_rewrites() -> None:
    with pytest.raises(TargetError, match="target 'llvm' takes no option 'rewrites'"):
        scheduled().build(rewrites=["cse"])
