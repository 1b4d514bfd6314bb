"""ludcmp: A x = b by way of A = L U, L y = b and U x = y; L and U replace A."""

from collections.abc import Callable
from typing import Any

import numpy as np

from allo.ir.types import AlloType, float32

from .benchmark import Benchmark
from .positive_definite import lu_factors, positive_definite

SIZES = {"MINI": (40,), "SMALL": (120,), "MEDIUM": (400,), "LARGE": (2000,), "EXTRALARGE": (4000,)}


def kernel(size: str, T: AlloType = float32) -> Callable[..., None]:
    """The kernel for A of N x N."""
    (N,) = SIZES[size]

    def factorise(A: T[N, N]):
        for i in range(N):
            for j in range(i):
                w: T = A[i, j]
                for k in range(j):
                    w -= A[i, k] * A[k, j]
                A[i, j] = w / A[j, j]
            for j1 in range(i, N):
                w1: T = A[i, j1]
                for k1 in range(i):
                    w1 -= A[i, k1] * A[k1, j1]
                A[i, j1] = w1

    def forward(A: T[N, N], b: T[N], y: T[N]):
        for i in range(N):
            w: T = b[i]
            for j in range(i):
                w -= A[i, j] * y[j]
            y[i] = w

    def backward(A: T[N, N], x: T[N], y: T[N]):
        for i in range(N - 1, -1, -1):
            w: T = y[i]
            for j in range(i + 1, N):
                w -= A[i, j] * x[j]
            x[i] = w / A[i, i]

    def ludcmp(A: T[N, N], b: T[N], x: T[N], y: T[N]):
        factorise(A)
        forward(A, b, y)
        backward(A, x, y)

    return ludcmp


def arguments(size: str, T: AlloType = float32) -> tuple[Any, ...]:
    """A, b, x, y as PolyBench initialises them."""
    (n,) = SIZES[size]
    b = T[n]((np.arange(n) + 1) / n / 2 + 4)
    return positive_definite(n, T), b, T[n](0), T[n](0)


def reference(size: str, A: Any, b: Any, x: Any, y: Any) -> None:
    """The kernel in NumPy."""
    lower, upper = lu_factors(A)
    x[...] = np.linalg.solve(A.astype(np.float64), b)
    y[...] = np.linalg.solve(lower, b)
    A[...] = np.tril(lower, -1) + upper


BENCHMARK = Benchmark("ludcmp", ("N",), SIZES, kernel, arguments, reference)
