"""Loops and branches mean what Python means by them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import allo
from allo.ir.types import float32, index, int32

Agree = Callable[..., Any]


def ints(*shape: int) -> np.ndarray[Any, Any]:
    return np.arange(int(np.prod(shape)), dtype=np.int32).reshape(shape)


def triangle(A: int32[6, 6]):
    for i in range(6):
        for j in range(i + 1, 6):
            A[i, j] = A[j, i] + 1


def stripes(A: int32[6, 6]):
    for i in range(1, 6, 2):
        for j in range(0, i, 3):
            A[i, j] = -1


def backwards(A: int32[6, 6]):
    for i in range(5, -1, -2):
        for j in range(i, 0, -1):
            A[i, j] = A[i, j] + A[i, j - 1]


def clamped(A: int32[6, 6]):
    for i in range(6):
        for j in range(max(0, i - 2), min(6, i + 2)):
            A[i, j] = 0


def empty_loops(A: int32[6, 6]):
    for i in range(0):
        A[i, 0] = -1
    for i in range(4, 2):
        A[i, 0] = -1
    for i in range(2, 4, -1):
        A[i, 0] = -1


def nested_grid(A: int32[6, 6]):
    for i, j in allo.grid(6, 6):
        for k in range(2):
            A[i, j] += k + i


def shared_names(A: int32[6, 6]):
    for i in range(6):
        A[i, 0] = i
    for i in range(6):
        A[0, i] += i


def floor_and_modulo(A: int32[6, 6]):
    for i, j in allo.grid(6, 6):
        A[i // 2, (i + j) % 6] = A[(j - i) % 6, j]


def chained_conditions(A: int32[6, 6]):
    for i, j in allo.grid(6, 6):
        if 1 <= i < j <= 4:
            A[i, j] = 100
        elif i == j and i > 2:
            A[i, j] = 200
        elif not i < 5 or j == 0:
            A[i, j] = 300
        else:
            pass


def branch_on_data(A: int32[6, 6]):
    for i, j in allo.grid(6, 6):
        if A[i, j] % 3 == 0 or A[j, i] > 20:
            if i != j:
                A[i, j] = -A[i, j]
            else:
                A[i, j] = 0


def constant_conditions(A: int32[6, 6]):
    if 2 > 3:
        A[0, 0] = 1
    elif True:
        A[0, 0] = 2
    else:
        A[0, 0] = 3
    while False:
        A[0, 0] = 4


def only_pass(A: int32[6, 6]):
    for i in range(6):  # noqa: B007
        pass
    if A[0, 0] == 0:
        pass


def subscripts_of_data(A: int32[6, 6]):
    for i in range(6):
        A[A[0, i], i] = A[i, A[0, 5 - i]]


def from_the_end(A: int32[6, 6]):
    A[-1, -6] = 7


KERNELS = [
    triangle,
    stripes,
    backwards,
    clamped,
    empty_loops,
    nested_grid,
    shared_names,
    floor_and_modulo,
    chained_conditions,
    branch_on_data,
    constant_conditions,
    only_pass,
    subscripts_of_data,
    from_the_end,
]


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.__name__)
def test_as_python(agree: Agree, kernel: Any) -> None:
    agree(kernel, ints(6, 6), plain=True)


def run_time_bounds(A: int32[12], low: int32, high: int32):
    for i in range(low, high):
        for j in range(i, high, 2):
            A[j] = A[j] + i
    for k in range(high - 1, low, -3):
        A[k] = A[k] * 2


@pytest.mark.parametrize(("low", "high"), [(0, 12), (3, 11), (5, 5), (7, 2)])
def test_bounds_from_arguments(agree: Agree, low: int, high: int) -> None:
    agree(run_time_bounds, ints(12), low, high, plain=True)


def bounds_from_memory(A: int32[12]):
    for i in range(A[3]):
        for j in range(A[9], A[i], -2):
            A[j] = 0


def test_bounds_from_memory(agree: Agree) -> None:
    agree(bounds_from_memory, ints(12), plain=True)


def step_from_arguments(A: int32[12], low: int32, high: int32, step: int32) -> int32:
    last: int32 = -100
    for i in range(low, high, step):
        A[i] = A[i] * 2 + i
        last = i
    return last


@pytest.mark.parametrize(("low", "high"), [(0, 12), (11, -1), (3, 4), (5, 5)])
@pytest.mark.parametrize("step", [1, 2, 5, 100, -1, -2, -5, -100])
def test_step_from_arguments(agree: Agree, low: int, high: int, step: int) -> None:
    agree(step_from_arguments, ints(12), low, high, step, plain=True)


def test_step_of_zero_runs_nothing() -> None:
    A = np.ones(12, np.int32)
    assert allo.customize(step_from_arguments).build()(A, 0, 12, 0) == -100
    assert (A == 1).all()


def bound_of_type_index(n: index) -> index:
    total: index = 0
    for i in range(n):
        total += i
    return total


def test_index_argument(agree: Agree) -> None:
    assert agree(bound_of_type_index, 5) == [10]


def collatz(n: int32) -> int32:
    steps: int32 = 0
    while n != 1 and steps < 1000:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return steps


@pytest.mark.parametrize("start", [1, 6, 27])
def test_while(agree: Agree, start: int) -> None:
    agree(collatz, start)


def bubble(A: float32[8]):
    swapped: int32 = 1
    while swapped:
        swapped = 0
        for i in range(7):
            if A[i] > A[i + 1]:
                low: float32 = A[i + 1]
                A[i + 1] = A[i]
                A[i] = low
                swapped = 1


def test_loop_in_while(agree: Agree) -> None:
    A = np.array([3, 1, 2, 9, -4, 0, 5, 5], np.float32)
    assert agree(bubble, A)[1].tolist() == sorted(A.tolist())


def raised(X: int32[2]) -> int32:
    X[0] = X[0] + 1
    return X[0] + X[1]


def doubled(X: int32[2]) -> int32[2]:
    return X * 2


def sum_of(X: int32[2]) -> int32:
    return X[0] + X[1]


def parts_in_the_condition(A: int32[4]) -> int32:
    n: int32 = 0
    while raised(A[0:2]) < 10:
        n += 1
    while sum_of(doubled(A[2:4])) < 40:
        A[2] += 3
    return n


def test_condition_that_copies_parts(agree: Agree) -> None:
    """It does so each time, and brings back what a kernel has changed."""
    assert [x.tolist() for x in agree(parts_in_the_condition, ints(4))[1:]] == [[9, 1, 17, 3]]


def only_when_needed(A: int32[4], n: int32) -> int32:
    return A[n] if n < 4 and A[n] > 0 else -1


@pytest.mark.parametrize("n", [3, 0, 1 << 30])
def test_what_is_not_needed_is_not_read(agree: Agree, n: int) -> None:
    agree(only_when_needed, ints(4), n, plain=True)


def fresh_in_each_iteration(A: int32[4]):
    for i in range(4):
        x: int32 = 0
        x += A[i]
        A[i] = x


def test_variables_of_a_loop_body_start_anew(agree: Agree) -> None:
    assert agree(fresh_in_each_iteration, ints(4))[1].tolist() == [0, 1, 2, 3]


def reductions(A: int32[3, 4]) -> int32:
    total: int32 = 0
    for i, j in allo.reduction(3, 4):
        total += A[i, j]
    for k in allo.reduction(3):
        total += A[k, 0]
    return total


def test_reductions(agree: Agree) -> None:
    assert agree(reductions, ints(3, 4))[0] == 66 + 12
