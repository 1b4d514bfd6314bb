"""3mm: G = (A B) (C D), by way of E = A B and F = C D."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import allo
from allo.ir.types import AlloType, float32

from .benchmark import DEVICE, Benchmark, Design
from .lanes import (
    DSP_LANE,
    DSP_PRODUCT,
    FABRIC,
    Product,
    Tile,
    cycles,
    in_banks,
    product_tiles,
    row_wise,
    widths,
)

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


def tiles(size: str, dsp: int, lane: int) -> tuple[Tile, Tile, Tile]:
    """The lanes of the three products; E is written and read by as many rows, and F by as many columns."""
    NI, NJ, NK, NL, NM = SIZES[size]
    choices = []
    for lanes in widths(Product(NL)):
        first, second, third = Product(NJ, NK), Product(NL, NM, lanes=lanes), Product(NL, NJ, lanes=lanes)
        outer, inner = product_tiles(NI, [first, third], dsp, lane), product_tiles(NJ, [second], dsp, lane)
        if outer and inner:
            turns = cycles(NI, first, outer[0]) + cycles(NJ, second, inner[0]) + cycles(NI, third, outer[1])
            choices.append((turns, (outer[0], inner[0], outer[1])))
    return min(choices)[1]


def in_turn(s: allo.Schedule, size: str, dsp: int, lane: int = DSP_LANE) -> None:
    """Three row-wise products in one function, so that they share multipliers and adders."""
    first, second, third = tiles(size, dsp, lane)
    stages = (
        ("first", "E", "A", "B", first),
        ("second", "F", "C", "D", second),
        ("third", "G", "E", "F", third),
    )
    for function, result, left, right, tile in stages:
        row_wise(s, function, result, tile)
        in_banks(s, f"{function}:{left}", tile.rows)
        in_banks(s, f"{function}:{right}", 1, tile.columns)
    for function, *_ in stages:
        s.inline(function)


def within(dsp: int) -> Design:
    """The fastest design with this many DSPs."""
    return Design(kernel, partial(in_turn, dsp=dsp), dsp)


def without_adders(dsp: int) -> Design:
    """The fastest design with this many DSPs if adders take none."""
    return Design(kernel, partial(in_turn, dsp=dsp, lane=DSP_PRODUCT), dsp, operators=FABRIC)


DESIGNS = {
    "vanilla": Design(kernel),
    "best": within(DEVICE),
    "dsp220": within(220),
    "dsp467": without_adders(467),
    "dsp2560": within(2560),
}


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


BENCHMARK = Benchmark(
    "three_mm", ("NI", "NJ", "NK", "NL", "NM"), SIZES, kernel, arguments, reference, DESIGNS
)
