"""3mm: G = (A B) (C D), by way of E = A B and F = C D."""

from collections.abc import Callable
from typing import Any

import numpy as np

from allo.ir.types import AlloType, float32

from .benchmark import Benchmark

SIZES = {
    "MINI": (16, 18, 20, 22, 24),
    "SMALL": (40, 50, 60, 70, 80),
    "MEDIUM": (180, 190, 200, 210, 220),
    "LARGE": (800, 900, 1000, 1100, 1200),
    "EXTRALARGE": (1600, 1800, 2000, 2200, 2400),
}


def kernel(size: str, T: AlloType = float32) -> Callable[..., None]:
    """The kernel for A of NI x NK, B of NK x NJ, C of NJ x NM, D of NM x NL."""
    NI, NJ, NK, NL, NM = SIZES[size]

    def first(E: T[NI, NJ], A: T[NI, NK], B: T[NK, NJ]):
        for i in range(NI):
            for j in range(NJ):
                E[i, j] = 0.0
                for k in range(NK):
                    E[i, j] += A[i, k] * B[k, j]

    def second(F: T[NJ, NL], C: T[NJ, NM], D: T[NM, NL]):
        for i in range(NJ):
            for j in range(NL):
                F[i, j] = 0.0
                for k in range(NM):
                    F[i, j] += C[i, k] * D[k, j]

    def third(G: T[NI, NL], E: T[NI, NJ], F: T[NJ, NL]):
        for i in range(NI):
            for j in range(NL):
                G[i, j] = 0.0
                for k in range(NJ):
                    G[i, j] += E[i, k] * F[k, j]

    def three_mm(
        E: T[NI, NJ],
        A: T[NI, NK],
        B: T[NK, NJ],
        F: T[NJ, NL],
        C: T[NJ, NM],
        D: T[NM, NL],
        G: T[NI, NL],
    ):
        first(E, A, B)
        second(F, C, D)
        third(G, E, F)

    return three_mm


def arguments(size: str, T: AlloType = float32) -> tuple[Any, ...]:
    """E, A, B, F, C, D, G as PolyBench initialises them."""
    ni, nj, nk, nl, nm = SIZES[size]
    row, column = np.ogrid[:ni, :nk]
    A = T[ni, nk]((row * column + 1) % ni / (5 * ni))
    row, column = np.ogrid[:nk, :nj]
    B = T[nk, nj]((row * (column + 1) + 2) % nj / (5 * nj))
    row, column = np.ogrid[:nj, :nm]
    C = T[nj, nm](row * (column + 3) % nl / (5 * nl))
    row, column = np.ogrid[:nm, :nl]
    D = T[nm, nl]((row * (column + 2) + 2) % nk / (5 * nk))
    return T[ni, nj](0), A, B, T[nj, nl](0), C, D, T[ni, nl](0)


def reference(size: str, E: Any, A: Any, B: Any, F: Any, C: Any, D: Any, G: Any) -> None:
    """The kernel in NumPy."""
    E[...] = A @ B
    F[...] = C @ D
    G[...] = E @ F


BENCHMARK = Benchmark("three_mm", ("NI", "NJ", "NK", "NL", "NM"), SIZES, kernel, arguments, reference)
