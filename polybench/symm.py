"""symm: C = alpha A B + beta C for a symmetric A of which the lower triangle is stored."""

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
    """The kernel for A of M x M, B and C of M x N."""
    M, N = SIZES[size]

    def symm(alpha: T, beta: T, C: T[M, N], A: T[M, M], B: T[M, N]):
        for i in range(M):
            for j in range(N):
                temp2: T = 0.0
                for k in range(i):
                    C[k, j] += alpha * B[i, j] * A[i, k]
                    temp2 += B[k, j] * A[i, k]
                C[i, j] = beta * C[i, j] + alpha * B[i, j] * A[i, i] + alpha * temp2

    return symm


def arguments(size: str, T: AlloType = float32) -> tuple[Any, ...]:
    """alpha, beta, C, A, B as PolyBench initialises them; the upper triangle of A must not be read."""
    m, n = SIZES[size]
    row, column = np.ogrid[:m, :n]
    C = T[m, n]((row + column) % 100 / m)
    B = T[m, n]((n + row - column) % 100 / m)
    row, column = np.ogrid[:m, :m]
    A = T[m, m](np.where(column <= row, (row + column) % 100 / m, -999))
    return 1.5, 1.2, C, A, B


def reference(size: str, alpha: float, beta: float, C: Any, A: Any, B: Any) -> None:
    """The kernel in NumPy."""
    symmetric = np.tril(A) + np.tril(A, -1).T
    C[...] = beta * C + alpha * (symmetric @ B)


BENCHMARK = Benchmark("symm", ("M", "N"), SIZES, kernel, arguments, reference)
