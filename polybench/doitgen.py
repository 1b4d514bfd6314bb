"""doitgen: each row A[r, q] of a three-dimensional array is multiplied by C4."""

# ruff: noqa: F821 - kernels declare arrays without a value

from collections.abc import Callable
from typing import Any

import numpy as np

import allo
from allo.ir.types import AlloType, float32

from .benchmark import DEVICE, Benchmark, Design
from .lanes import DSP_LANE, Tile, divisors, in_banks, spread, turns

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


def lanes(size: str) -> Tile:
    """The lanes of the product of A[r] with C4; as many matrices as `block` says take turns."""
    NQ, NR, NP = SIZES[size]
    choices = [(q * p, q, p) for q in divisors(NQ) for p in divisors(NP) if DSP_LANE * q * p <= DEVICE]
    _, q, p = max(choices)
    matrices = [r for r in divisors(NR) if r * (NQ // q) * (NP // p) >= turns(NR)]
    return Tile(matrices[0], q, p)


def stages(size: str, T: AlloType = float32) -> Callable[..., None]:
    """The same by blocks of some A[r], whose rows all take turns."""
    NQ, NR, NP = SIZES[size]
    BLOCK = lanes(size).block

    def doitgen(A: T[NR, NQ, NP], C4: T[NP, NP], sum: T[NP]):
        for b in range(NR // BLOCK):
            S: T[BLOCK, NQ, NP]
            for r, q, p in allo.grid(BLOCK, NQ, NP):
                S[r, q, p] = 0.0
                for s in range(NP):
                    S[r, q, p] += A[BLOCK * b + r, q, s] * C4[s, p]
            for r1, q1, p1 in allo.grid(BLOCK, NQ, NP):
                A[BLOCK * b + r1, q1, p1] = S[r1, q1, p1]
        for p2 in range(NP):
            sum[p2] = A[NR - 1, NQ - 1, p2]

    return doitgen


def row_wise(s: allo.Schedule, size: str) -> None:
    """A row-wise product."""
    tile = lanes(size)
    s.reorder("s", "r", "q", "p")
    for q, p in (("q_1", "p_1"), ("q", "p"), ("q1", "p1")):
        spread(s, q, p, tile)
    s.pipeline(s.split("p2", tile.columns)[0])
    for buffer, *banks in (
        (s.S, 1, *tile[1:]),
        (s.A, 1, *tile[1:]),
        (s.C4, 1, tile.columns),
        (s.sum, tile.columns),
    ):
        in_banks(s, buffer, *banks)


DESIGNS = {"vanilla": Design(kernel), "best": Design(stages, row_wise)}


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


BENCHMARK = Benchmark("doitgen", ("NQ", "NR", "NP"), SIZES, kernel, arguments, reference, DESIGNS)
