"""2mm: D = alpha A B C + beta D, by way of tmp = alpha A B."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from allo.ir.types import float32

from .benchmark import Benchmark

SIZES = {
    "MINI": (16, 18, 22, 24),
    "SMALL": (40, 50, 70, 80),
    "MEDIUM": (180, 190, 210, 220),
    "LARGE": (800, 900, 1100, 1200),
    "EXTRALARGE": (1600, 1800, 2200, 2400),
}


def kernel(size: str) -> Callable[..., None]:
    """The kernel for A of NI x NK, B of NK x NJ, C of NJ x NL, D of NI x NL."""
    NI, NJ, NK, NL = SIZES[size]

    def two_mm(
        alpha: float32,
        beta: float32,
        tmp: float32[NI, NJ],
        A: float32[NI, NK],
        B: float32[NK, NJ],
        C: float32[NJ, NL],
        D: float32[NI, NL],
    ):
        for i in range(NI):
            for j in range(NJ):
                tmp[i, j] = 0.0
                for k in range(NK):
                    tmp[i, j] += alpha * A[i, k] * B[k, j]
        for i in range(NI):
            for j in range(NL):
                D[i, j] *= beta
                for k in range(NJ):
                    D[i, j] += tmp[i, k] * C[k, j]

    return two_mm


def arguments(size: str) -> tuple[Any, ...]:
    """alpha, beta, tmp, A, B, C, D as PolyBench initialises them."""
    ni, nj, nk, nl = SIZES[size]
    tmp = np.zeros((ni, nj), np.float32)
    row, column = np.ogrid[:ni, :nk]
    A = ((row * column + 1) % ni / ni).astype(np.float32)
    row, column = np.ogrid[:nk, :nj]
    B = (row * (column + 1) % nj / nj).astype(np.float32)
    row, column = np.ogrid[:nj, :nl]
    C = ((row * (column + 3) + 1) % nl / nl).astype(np.float32)
    row, column = np.ogrid[:ni, :nl]
    D = (row * (column + 2) % nk / nk).astype(np.float32)
    return 1.5, 1.2, tmp, A, B, C, D


def reference(size: str, alpha: float, beta: float, tmp: Any, A: Any, B: Any, C: Any, D: Any) -> None:
    """The kernel in NumPy."""
    tmp[...] = alpha * (A @ B)
    D[...] = tmp @ C + beta * D


BENCHMARK = Benchmark("two_mm", ("NI", "NJ", "NK", "NL"), SIZES, kernel, arguments, reference)
