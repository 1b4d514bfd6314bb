"""Arrays of run-time extents in hardware, whose memories are as large as the build says."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import allo
from allo.backend.rtl import RTLModule
from allo.ir.types import float32, index, int5, int32

from .simulated import assert_in_hardware
from .test_refusals import refusal


def running_sum(X: float32[...], Y: float32[...]) -> float32:
    total: float32 = 0
    for i in range(X.shape[0]):
        total += X[i]
        Y[i] = total
    Y *= 2.0
    X[:] = Y
    Y[1] = X[-1]
    return total


def scale(X: float32[..., 4], by: float32):
    for i in range(X.shape[0]):
        for j in range(4):
            X[i, j] *= by


def calls(A: float32[3, 4], B: float32[..., 4]):
    scale(A, 2.0)
    scale(B, 3.0)


def columns(A: int5[..., 3], s: int32[3]) -> index:
    for i in range(A.shape[0]):
        for j in range(3):
            s[j] += A[i, j]
    return A.shape[0]


def built(kernel: Any, **options: Any) -> tuple[allo.Schedule, RTLModule]:
    s = allo.customize(kernel)
    made = s.build(target="rtl", limit=10_000, random_state=1, **options)
    assert isinstance(made, RTLModule) and made.predicted_cycles is None
    return s, made


def test_one_build_takes_every_extent_up_to_the_greatest() -> None:
    s, made = built(running_sum, extents={"X": 16, "Y": 16})
    assert [str(p) for p in made.parameters] == ["X: float32[...]", "Y: float32[...]"]
    on_cpu = s.build()
    for size in (2, 5, 16):
        X, Y = np.arange(size, dtype=np.float32), np.zeros(size, np.float32)
        assert_in_hardware(s, made, X, Y, on_cpu=on_cpu)
    with pytest.raises(ValueError) as caught:
        made(np.zeros(17, np.float32), np.zeros(3, np.float32))
    assert str(caught.value) == "argument 'X' has an extent of 17, and the hardware was built for 16"


@pytest.mark.slow
@pytest.mark.parametrize("interface", [None, "axi"])
def test_calls_with_arrays_of_both_kinds(interface: str | None) -> None:
    given = {} if interface is None else {"interface": interface}
    s, made = built(calls, extents={"B": 7}, **given)
    for size in (0, 1, 7):
        A, B = np.ones((3, 4), np.float32), np.arange(4 * size, dtype=np.float32).reshape(size, 4)
        assert_in_hardware(s, made, A, B)


@pytest.mark.slow
def test_numbers_that_numpy_does_not_have() -> None:
    s, made = built(columns, extents={"A": 8})
    for size in (5, 8):
        A = np.random.default_rng(0).integers(-16, 16, (size, 3), np.int8)
        assert_in_hardware(s, made, A, np.zeros(3, np.int32))


def square(A: int32[..., ...]):
    A[0, 0] = 1


@pytest.mark.parametrize(("kernel", "extents", "wanted"), [
    (columns, {"C": 3}, "extents name 'C', which is no array of a run-time extent\n  hint: these are A"),
    (columns, {"A": 0}, "the greatest extent of 'A' must be a whole number above 0, got 0"),
    (columns, [1], "extents must be a dict of names and extents, got [1]"),
    (square, {"A": 3},
     "AT array 'A' has an extent behind the first that is known at run time only, and hardware needs it\n"
     "    def square(A: int32[..., ...]):\n"
     "               ^\n"
     "  hint: leave only the first extent open"),
])  # fmt: skip
def test_refusals(kernel: Any, extents: Any, wanted: str) -> None:
    assert refusal(allo.customize(kernel), extents=extents) == wanted
