"""2mm: D = alpha A B C + beta D, by way of tmp = alpha A B."""

from collections.abc import Callable
from typing import Any

import numpy as np

from allo.ir.types import AlloType, float32

from .benchmark import Benchmark

SIZES = {
    "MINI": (16, 18, 22, 24),
    "SMALL": (40, 50, 70, 80),
    "MEDIUM": (180, 190, 210, 220),
    "LARGE": (800, 900, 1100, 1200),
    "EXTRALARGE": (1600, 1800, 2200, 2400),
}


def kernel(size: str, T: AlloType = float32) -> Callable[..., None]:
    """The kernel for A of NI x NK, B of NK x NJ, C of NJ x NL, D of NI x NL."""
    NI, NJ, NK, NL = SIZES[size]

    def product(alpha: T, tmp: T[NI, NJ], A: T[NI, NK], B: T[NK, NJ]):
        for i in range(NI):
            for j in range(NJ):
                tmp[i, j] = 0.0
                for k in range(NK):
                    tmp[i, j] += alpha * A[i, k] * B[k, j]

    def update(beta: T, tmp: T[NI, NJ], C: T[NJ, NL], D: T[NI, NL]):
        for i in range(NI):
            for j in range(NL):
                D[i, j] *= beta
                for k in range(NJ):
                    D[i, j] += tmp[i, k] * C[k, j]

    def two_mm(
        alpha: T,
        beta: T,
        tmp: T[NI, NJ],
        A: T[NI, NK],
        B: T[NK, NJ],
        C: T[NJ, NL],
        D: T[NI, NL],
    ):
        product(alpha, tmp, A, B)
        update(beta, tmp, C, D)

    return two_mm


def arguments(size: str, T: AlloType = float32) -> tuple[Any, ...]:
    """alpha, beta, tmp, A, B, C, D as PolyBench initialises them."""
    ni, nj, nk, nl = SIZES[size]
    row, column = np.ogrid[:ni, :nk]
    A = T[ni, nk]((row * column + 1) % ni / ni)
    row, column = np.ogrid[:nk, :nj]
    B = T[nk, nj](row * (column + 1) % nj / nj)
    row, column = np.ogrid[:nj, :nl]
    C = T[nj, nl]((row * (column + 3) + 1) % nl / nl)
    row, column = np.ogrid[:ni, :nl]
    D = T[ni, nl](row * (column + 2) % nk / nk)
    return 1.5, 1.2, T[ni, nj](0), A, B, C, D


def reference(size: str, alpha: float, beta: float, tmp: Any, A: Any, B: Any, C: Any, D: Any) -> None:
    """The kernel in NumPy."""
    tmp[...] = alpha * (A @ B)
    D[...] = tmp @ C + beta * D


BENCHMARK = Benchmark("two_mm", ("NI", "NJ", "NK", "NL"), SIZES, kernel, arguments, reference)
