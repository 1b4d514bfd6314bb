"""atax: y = A^T (A x)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from allo.ir.types import float32

from .benchmark import Benchmark

SIZES = {
    "MINI": (38, 42),
    "SMALL": (116, 124),
    "MEDIUM": (390, 410),
    "LARGE": (1900, 2100),
    "EXTRALARGE": (1800, 2200),
}


def kernel(size: str) -> Callable[..., None]:
    """The kernel for A of M x N; tmp holds A x."""
    M, N = SIZES[size]

    def atax(A: float32[M, N], x: float32[N], y: float32[N], tmp: float32[M]):
        for j in range(N):
            y[j] = 0.0
        for i in range(M):
            tmp[i] = 0.0
            for j in range(N):
                tmp[i] += A[i, j] * x[j]
            for j1 in range(N):
                y[j1] += A[i, j1] * tmp[i]

    return atax


def arguments(size: str) -> tuple[Any, ...]:
    """A, x, y, tmp as PolyBench initialises them."""
    m, n = SIZES[size]
    row, column = np.ogrid[:m, :n]
    A = ((row + column) % n / (5 * m)).astype(np.float32)
    x = (1 + np.arange(n) / n).astype(np.float32)
    return A, x, np.zeros(n, np.float32), np.zeros(m, np.float32)


def reference(size: str, A: Any, x: Any, y: Any, tmp: Any) -> None:
    """The kernel in NumPy."""
    tmp[...] = A @ x
    y[...] = tmp @ A


BENCHMARK = Benchmark("atax", ("M", "N"), SIZES, kernel, arguments, reference)
