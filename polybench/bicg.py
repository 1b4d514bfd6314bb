"""bicg: s = A^T r and q = A p in one pass over A."""

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
    """The kernel for A of N x M."""
    M, N = SIZES[size]

    def bicg(A: T[N, M], s: T[M], q: T[N], p: T[M], r: T[N]):
        for j in range(M):
            s[j] = 0.0
        for i in range(N):
            q[i] = 0.0
            for j1 in range(M):
                s[j1] += r[i] * A[i, j1]
                q[i] += A[i, j1] * p[j1]

    return bicg


def arguments(size: str, T: AlloType = float32) -> tuple[Any, ...]:
    """A, s, q, p, r as PolyBench initialises them."""
    m, n = SIZES[size]
    row, column = np.ogrid[:n, :m]
    A = T[n, m](row * (column + 1) % n / n)
    return A, T[m](0), T[n](0), T[m](np.arange(m) / m), T[n](np.arange(n) / n)


def reference(size: str, A: Any, s: Any, q: Any, p: Any, r: Any) -> None:
    """The kernel in NumPy."""
    s[...] = r @ A
    q[...] = A @ p


BENCHMARK = Benchmark("bicg", ("M", "N"), SIZES, kernel, arguments, reference)
