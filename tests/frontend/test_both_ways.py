"""Kernels of the core language give the same results as machine code, interpreted, and as plain Python."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import allo
from allo.ir.types import bool, float32, float64, index, int8, int32

N = 6
WEIGHTS = np.array([1, -2, 3], np.int32)


def loops(A: int32[N, N], B: int32[N, N]) -> int32:
    total: int32 = 0
    for i, j in allo.grid(N, N, name="nest"):
        B[i, j] = A[j, i] * 2 - i
    for i in range(N - 1, 0, -2):
        for k in allo.reduction(i + 1, name="sum"):
            total += B[i, k] * WEIGHTS[k % 3]
    return total


def named(A: int32[N]):
    for i in range(2, N, 3, name="strided"):
        A[i] += i


def test_the_name_of_a_range_is_not_plain_python(agree: Callable[..., Any]) -> None:
    agree(named, np.zeros(N, np.int32))
    assert allo.customize(named).get_loops()["strided"] is not None


def branches(A: int32[N, N], B: int32[N, N]) -> int32:
    count: int32 = 0
    for i, j in allo.grid(N, N):
        if A[i, j] > 3 and i != j:
            count += 1
        elif A[i, j] < -3 or not (i < 2 <= j):
            B[i, j] = min(A[i, j], i, 2)
        else:
            B[i, j] = abs(A[i, j]) if j % 2 == 0 else max(A[i, j], -j)
    return count


def conditions(A: int32[N, N], B: int32[N, N]) -> (int32, int32):
    steps: int32 = 0
    while steps * steps < 20 and A[0, 0] == A[0, 0]:
        steps += 1
    B[0, 0] = A[0, 0] or 5
    B[0, 1] = A[1, 1] and steps
    B[0, 2] = A[0, 1] // 3 + A[0, 2] % 5 - (A[0, 3] >> 1) ^ (A[0, 4] & 7)
    return steps, -steps


def leaves(A: int32[N, N], B: int32[N, N]):
    B[0, 0] = 7
    if A[0, 0] > 0:
        return
    B[1, 1] = 8


def whole(A: int32[N, N], B: int32[N, N]):
    B[:] = A.T + A[0]
    B[1:] = B[:-1] - A[2, 3]
    B[:, ::2] = A[:, 1::2] * 3
    C = int32[N, N](1)
    C += B[N - 1]
    B[2] = C[3] + A[:, 1]
    for i in range(3):
        B[i, 1:4] = A[i, i : i + 3]


def row_sum(X: int32[N], start: int32) -> int32:
    for i in range(N):
        start += X[i]
    return start


def clear(X: int32[N]):
    X[:] = 0


def doubled(X: int32[N]) -> int32[N]:
    Y = int32[N](0)
    Y[:] = X * 2
    return Y


def calls(A: int32[N, N], B: int32[N, N]) -> (int32, int32):
    def own(x: int32) -> int32:
        return x * 2 + N

    B[0, 0] = row_sum(A[1], start=own(3))
    clear(B[2])
    B[3] = doubled(A[0]) + doubled(doubled(A[1]))
    return row_sum(start=0, X=B[3]), doubled(A[4])[2]


def run_time_extents(A: int32[..., N], B: int32[..., N]) -> index:
    for i in range(A.shape[0]):
        for j in range(A.shape[1] - 1):
            B[i, j] = A[i, j + 1]
    B += A
    B[-1] = 3
    return B.shape[0]


@pytest.mark.parametrize("kernel", [loops, branches, conditions, leaves, whole, calls, run_time_extents])
@pytest.mark.parametrize("seed", [0, 1])
def test_integers(agree: Callable[..., Any], kernel: Callable[..., Any], seed: int) -> None:
    random = np.random.default_rng(seed)
    agree(kernel, *(random.integers(-9, 10, (N, N)).astype(np.int32) for _ in range(2)), plain=True)


def floats(A: float64[N], x: float64, n: int32) -> (float64, bool):
    best: float64 = A[0]
    for i in range(1, n):
        best = max(best, A[i] * x - 0.25)
        A[i] = allo.sqrt(abs(A[i])) if A[i] < 0 else A[i] ** 2 / 4
    A *= x
    return best, 0 <= best < 1


@pytest.mark.parametrize("n", [1, 4, 6])
def test_floats(agree: Callable[..., Any], n: int) -> None:
    agree(floats, np.random.default_rng(n).standard_normal(N), 0.75, n, plain=True)


def declared(A: int8[4], v: float32) -> (int8, float32):
    x: int8 = 100
    x += 100
    y: float32 = v / 3
    B: int8[4] = A
    C: int8[4] = 2
    B += C
    A[0] = B[1]
    y = y * 0.1
    return x, y


def test_declarations_are_carried_out_by_interpret(agree: Callable[..., Any]) -> None:
    found = agree(declared, np.array([1, 2, 3, 4], np.int8), np.float32(0.5))
    assert found[0] == -56 and found[2].tolist() == [4, 2, 3, 4]
