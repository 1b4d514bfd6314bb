"""What has no hardware is refused, with the line of the kernel and what to do."""

from __future__ import annotations

import re

import numpy as np
import pytest

import allo
from allo.ir.types import Fixed, Int, float32, int32

from .test_loops import gemm, numbers


def refusal(s: allo.Schedule, **options: object) -> str:
    """The whole text of the error, without the path and the numbers of line and column."""
    with pytest.raises(allo.AlloError) as caught:
        s.build(target="rtl", **options)
    return re.sub(r'File "[^"]+", line \d+, column \d+: ', "AT ", str(caught.value))


def test_elements_of_fixed_point() -> None:
    def half(x: Fixed(12, 4)[8]):
        for i in range(8):
            x[i] = x[i] + x[i]

    assert refusal(allo.customize(half)) == (
        "AT array 'x' has elements of type !allo.fixed<12, 4>, which target 'rtl' has no hardware for yet\n"
        "    def half(x: Fixed(12, 4)[8]):\n"
        "    ^\n"
        "  hint: build the kernel for 'vitis_hls'"
    )


def test_wide_arguments() -> None:
    def half(x: Int(65)[8]):
        for i in range(8):
            x[i] = x[i] // 2

    assert refusal(allo.customize(half)) == (
        "AT argument 'x' of 'half' has 65 bits, and a call of target 'rtl' passes 64 at most yet\n"
        "    def half(x: Int(65)[8]):\n"
        "    ^\n"
        "  hint: pass parts of it; within the kernel integers may have any width"
    )


def test_operators_that_the_library_does_not_have() -> None:
    def exponential(x: float32[8]):
        for i in range(8):
            x[i] = allo.exp(x[i])

    assert refusal(allo.customize(exponential)) == (
        "AT target 'rtl' has no hardware for 'exp' yet\n"
        "    x[i] = allo.exp(x[i])\n"
        "           ^\n"
        "  hint: build the kernel for 'vitis_hls', or leave the operation to the host"
    )


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"limit": 0}, "limit must be a number of cycles above 0, got 0"),
        ({"random_state": "x"}, "random_state must be a whole number, got 'x'"),
    ],
)
def test_options(options: dict[str, object], told: str) -> None:
    assert refusal(allo.customize(gemm), **options) == told


def test_a_run_over_its_limit() -> None:
    made = allo.customize(gemm).build(target="rtl", limit=100)
    with pytest.raises(allo.AlloError) as caught:
        made(numbers(8, 8), numbers(8, 8), numbers(8, 8))
    assert str(caught.value) == (
        "the simulation of 'gemm' was stopped after 100 cycles\n  hint: give it a greater limit="
    )
    with pytest.raises(TypeError, match="argument 'A' must be a NumPy array"):
        made([1], numbers(8, 8), np.zeros((8, 8), np.int32))


def test_run_time_extents() -> None:
    def open_end(x: int32[...], y: int32[8]):
        for i in range(8):
            y[i] = x[i]

    assert "has extents that are known at run time only" in refusal(allo.customize(open_end))
