"""trmm: B = alpha A^T B for a lower triangular A with a diagonal of ones."""

from collections.abc import Callable
from typing import Any

import numpy as np

from allo.ir.types import AlloType, float32

from .benchmark import Benchmark

SIZES = {
    "MINI": (20, 30),
    "SMALL": (60, 80),
    "MEDIUM": (200, 240),
    "LARGE": (1000, 1200),
    "EXTRALARGE": (2000, 2600),
}


def kernel(size: str, T: AlloType = float32) -> Callable[..., None]:
    """The kernel for A of M x M, B of M x N."""
    M, N = SIZES[size]

    def trmm(alpha: T, A: T[M, M], B: T[M, N]):
        for i in range(M):
            for j in range(N):
                for k in range(i + 1, M):
                    B[i, j] += A[k, i] * B[k, j]
                B[i, j] = alpha * B[i, j]

    return trmm


def arguments(size: str, T: AlloType = float32) -> tuple[Any, ...]:
    """alpha, A, B as PolyBench initialises them."""
    m, n = SIZES[size]
    row, column = np.ogrid[:m, :m]
    A = T[m, m](np.tril((row + column) % m / m, -1) + np.eye(m))
    row, column = np.ogrid[:m, :n]
    return 1.5, A, T[m, n]((n + row - column) % n / n)


def reference(size: str, alpha: float, A: Any, B: Any) -> None:
    """The kernel in NumPy."""
    B[...] = alpha * (A.T @ B)


BENCHMARK = Benchmark("trmm", ("M", "N"), SIZES, kernel, arguments, reference)
