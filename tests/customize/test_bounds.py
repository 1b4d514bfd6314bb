"""Affine subscripts that leave their array are refused, with the first iteration that does."""

import numpy as np
import pytest

import allo
from allo.ir.types import float32, int32

N = 8


def past_end(A: float32[N]):
    for i in range(N):
        A[i] = A[i + 1]


def before_start(A: float32[N]):
    for i in range(N):
        for j in range(i + 1):
            A[i - j - 1] = 0.0


def guarded(A: float32[N], B: float32[N]):
    for i in range(N):
        if i > 0 and i < N - 1:
            B[i] = A[i - 1] + A[i + 1]


def run_time(A: float32[N], n: int32):
    for i in range(n):
        A[i] = A[i] + 1.0


@pytest.mark.parametrize(
    ("kernel", "message"),
    [
        (
            past_end,
            "A[i + 1] is outside of the array: subscript 0 is 8 when i=7, but dimension 0 of 'A' has 8 elements",
        ),
        (
            before_start,
            "A[i - j - 1] is outside of the array: subscript 0 is -1 when i=0, j=0, "
            "but dimension 0 of 'A' has 8 elements",
        ),
    ],
)
def test_refused(kernel: object, message: str) -> None:
    with pytest.raises(allo.KernelError) as caught:
        allo.customize(kernel)
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.message == message
    assert diagnostic.hint == "change the bounds of the loop, or guard the access with `if`"


def test_guards_count() -> None:
    a, b = np.arange(N, dtype=np.float32), np.zeros(N, np.float32)
    allo.customize(guarded).build()(a, b)
    assert b.tolist() == [0, 2, 4, 6, 8, 10, 12, 0]


def test_run_time_bounds_are_not_judged() -> None:
    a = np.zeros(N, np.float32)
    allo.customize(run_time).build()(a, 3)
    assert a.sum() == 3
