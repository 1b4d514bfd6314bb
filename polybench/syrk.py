"""syrk: C = alpha A A^T + beta C in the lower triangle of C."""

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
    """The kernel for A of N x M, C of N x N."""
    M, N = SIZES[size]

    def syrk(alpha: T, beta: T, C: T[N, N], A: T[N, M]):
        for i in range(N):
            for j in range(i + 1):
                C[i, j] *= beta
            for k in range(M):
                for j1 in range(i + 1):
                    C[i, j1] += alpha * A[i, k] * A[j1, k]

    return syrk


def arguments(size: str, T: AlloType = float32) -> tuple[Any, ...]:
    """alpha, beta, C, A as PolyBench initialises them."""
    m, n = SIZES[size]
    row, column = np.ogrid[:n, :m]
    A = T[n, m]((row * column + 1) % n / n)
    row, column = np.ogrid[:n, :n]
    return 1.5, 1.2, T[n, n]((row * column + 2) % m / m), A


def reference(size: str, alpha: float, beta: float, C: Any, A: Any) -> None:
    """The kernel in NumPy."""
    C[...] = np.tril(beta * C + alpha * (A @ A.T)) + np.triu(C, 1)


BENCHMARK = Benchmark("syrk", ("M", "N"), SIZES, kernel, arguments, reference)
