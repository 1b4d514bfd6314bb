"""What has no hardware is refused, with the line of the kernel and what to do."""

from __future__ import annotations

import re

import numpy as np
import pytest

import allo
from allo.ir.types import Stateful, int32
from allo.memory import Memory

from .test_loops import gemm, numbers


def refusal(s: allo.Schedule, **options: object) -> str:
    """The whole text of the error, without the path and the numbers of line and column."""
    with pytest.raises(allo.AlloError) as caught:
        s.build(target="rtl", **options)
    return re.sub(r'File "[^"]+", line \d+, column \d+: ', "AT ", str(caught.value))


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"limit": 0}, "limit must be a number of cycles above 0, got 0"),
        ({"project": 3}, "project must be the path of a folder, got 3"),
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

    assert refusal(allo.customize(open_end)) == (
        "AT array 'x' has extents that are known at run time only, and hardware needs its size\n"
        "    def open_end(x: int32[...], y: int32[8]):\n"
        "                 ^\n"
        "  hint: say how large it may be, extents={'x': 1024}, or give it constant extents"
    )


def test_first_values_in_memory_that_begins_with_zeros() -> None:
    def seen(x: int32) -> int32:
        before: Stateful[int32[64]] = 3
        before[x] += x
        return before[0]

    s = allo.customize(seen)
    s.bind("before", memory=Memory(resource="URAM"))
    assert refusal(s) == (
        "AT 'before' stays from call to call and begins with values other than 0, which URAM cannot\n"
        "    before: Stateful[int32[64]] = 3\n"
        "    ^\n"
        "  hint: bind it to BRAM or LUTRAM"
    )
