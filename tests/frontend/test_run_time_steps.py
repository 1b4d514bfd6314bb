"""Loops that count down from a bound known only at run time visit the values that Python's range() gives."""

import numpy as np
import pytest

import allo
from allo.ir.types import int32


def visit_by_one(n: int32, A: int32[16]) -> int32:
    start: int32 = n
    count: int32 = 0
    for i in range(start, 1, -1):
        A[count] = i
        count += 1
    return count


def visit_by_three(n: int32, A: int32[16]) -> int32:
    start: int32 = n
    count: int32 = 0
    for i in range(start, -2, -3):
        A[count] = i
        count += 1
    return count


@pytest.mark.parametrize("n", [0, 1, 2, 9, 12])
@pytest.mark.parametrize(("kernel", "stop", "step"), [(visit_by_one, 1, -1), (visit_by_three, -2, -3)])
def test_counts_down(kernel: object, stop: int, step: int, n: int) -> None:
    visited = np.zeros(16, np.int32)
    count = allo.customize(kernel).build()(n, visited)
    assert visited[:count].tolist() == list(range(n, stop, step))
