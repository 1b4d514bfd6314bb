"""doitgen: each row A[r, q] of a three-dimensional array is multiplied by C4."""

from collections.abc import Callable
from typing import Any

import numpy as np

from allo.ir.types import AlloType, float32

from .benchmark import Benchmark

SIZES = {
    "MINI": (8, 10, 12),
    "SMALL": (20, 25, 30),
    "MEDIUM": (40, 50, 60),
    "LARGE": (140, 150, 160),
    "EXTRALARGE": (220, 250, 270),
}


def kernel(size: str, T: AlloType = float32) -> Callable[..., None]:
    """The kernel for A of NR x NQ x NP, C4 of NP x NP; sum holds the new row."""
    NQ, NR, NP = SIZES[size]

    def doitgen(A: T[NR, NQ, NP], C4: T[NP, NP], sum: T[NP]):
        for r in range(NR):
            for q in range(NQ):
                for p in range(NP):
                    sum[p] = 0.0
                    for s in range(NP):
                        sum[p] += A[r, q, s] * C4[s, p]
                for p1 in range(NP):
                    A[r, q, p1] = sum[p1]

    return doitgen


def arguments(size: str, T: AlloType = float32) -> tuple[Any, ...]:
    """A, C4, sum as PolyBench initialises them."""
    nq, nr, np_ = SIZES[size]
    r, q, p = np.ogrid[:nr, :nq, :np_]
    row, column = np.ogrid[:np_, :np_]
    A = T[nr, nq, np_]((r * q + p) % np_ / np_)
    return A, T[np_, np_](row * column % np_ / np_), T[np_](0)


def reference(size: str, A: Any, C4: Any, sum: Any) -> None:
    """The kernel in NumPy."""
    A[...] = A @ C4
    sum[...] = A[-1, -1]


BENCHMARK = Benchmark("doitgen", ("NQ", "NR", "NP"), SIZES, kernel, arguments, reference)
