"""gemm: C = alpha A B + beta C."""

from collections.abc import Callable
from typing import Any

import numpy as np

from allo.ir.types import AlloType, float32

from .benchmark import Benchmark

SIZES = {
    "MINI": (20, 25, 30),
    "SMALL": (60, 70, 80),
    "MEDIUM": (200, 220, 240),
    "LARGE": (1000, 1100, 1200),
    "EXTRALARGE": (2000, 2300, 2600),
}


def kernel(size: str, T: AlloType = float32) -> Callable[..., None]:
    """The kernel for A of NI x NK, B of NK x NJ, C of NI x NJ."""
    NI, NJ, NK = SIZES[size]

    def gemm(alpha: T, beta: T, C: T[NI, NJ], A: T[NI, NK], B: T[NK, NJ]):
        for i in range(NI):
            for j in range(NJ):
                C[i, j] *= beta
            for k in range(NK):
                for j1 in range(NJ):
                    C[i, j1] += alpha * A[i, k] * B[k, j1]

    return gemm


def arguments(size: str, T: AlloType = float32) -> tuple[Any, ...]:
    """alpha, beta, C, A, B as PolyBench initialises them."""
    ni, nj, nk = SIZES[size]
    row, column = np.ogrid[:ni, :nj]
    C = T[ni, nj]((row * column + 1) % ni / ni)
    row, column = np.ogrid[:ni, :nk]
    A = T[ni, nk](row * (column + 1) % nk / nk)
    row, column = np.ogrid[:nk, :nj]
    B = T[nk, nj](row * (column + 2) % nj / nj)
    return 1.5, 1.2, C, A, B


def reference(size: str, alpha: float, beta: float, C: Any, A: Any, B: Any) -> None:
    """The kernel in NumPy."""
    C[...] = beta * C + alpha * (A @ B)


BENCHMARK = Benchmark("gemm", ("NI", "NJ", "NK"), SIZES, kernel, arguments, reference)
