"""atax: y = A^T (A x)."""

from collections.abc import Callable
from typing import Any

import numpy as np

from allo.ir.types import AlloType, float32

from .benchmark import Benchmark

SIZES = {
    "MINI": (38, 42),
    "SMALL": (116, 124),
    "MEDIUM": (390, 410),
    "LARGE": (1900, 2100),
    "EXTRALARGE": (1800, 2200),
}


def kernel(size: str, T: AlloType = float32) -> Callable[..., None]:
    """The kernel for A of M x N; tmp holds A x."""
    M, N = SIZES[size]

    def atax(A: T[M, N], x: T[N], y: T[N], tmp: T[M]):
        for j in range(N):
            y[j] = 0.0
        for i in range(M):
            tmp[i] = 0.0
            for j in range(N):
                tmp[i] += A[i, j] * x[j]
            for j1 in range(N):
                y[j1] += A[i, j1] * tmp[i]

    return atax


def arguments(size: str, T: AlloType = float32) -> tuple[Any, ...]:
    """A, x, y, tmp as PolyBench initialises them."""
    m, n = SIZES[size]
    row, column = np.ogrid[:m, :n]
    A = T[m, n]((row + column) % n / (5 * m))
    return A, T[n](1 + np.arange(n) / n), T[n](0), T[m](0)


def reference(size: str, A: Any, x: Any, y: Any, tmp: Any) -> None:
    """The kernel in NumPy."""
    tmp[...] = A @ x
    y[...] = tmp @ A


BENCHMARK = Benchmark("atax", ("M", "N"), SIZES, kernel, arguments, reference)
