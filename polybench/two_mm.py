"""2mm: D = alpha A B C + beta D, by way of tmp = alpha A B."""

# ruff: noqa: F821 - kernels declare arrays without a value

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import allo
from allo.ir.types import AlloType, float32, index

from .benchmark import DEVICE, Benchmark, Design, Part
from .lanes import (
    DSP_LANE,
    DSP_PRODUCT,
    FABRIC,
    Product,
    Tile,
    divisor,
    in_banks,
    product_tiles,
    row_wise,
    rows_in_order,
    turns,
)

SIZES = {
    "MINI": (16, 18, 22, 24),
    "SMALL": (40, 50, 70, 80),
    "MEDIUM": (180, 190, 210, 220),
    "LARGE": (800, 900, 1100, 1200),
    "EXTRALARGE": (1600, 1800, 2200, 2400),
}


def product(size: str, T: AlloType = float32) -> Callable[..., None]:
    """tmp = alpha A B."""
    NI, NJ, NK, _ = SIZES[size]

    def product(alpha: T, tmp: T[NI, NJ], A: T[NI, NK], B: T[NK, NJ]):
        for i in range(NI):
            for j in range(NJ):
                tmp[i, j] = 0.0
                for k in range(NK):
                    tmp[i, j] += alpha * A[i, k] * B[k, j]

    return product


def update(size: str, T: AlloType = float32) -> Callable[..., None]:
    """D = tmp C + beta D."""
    NI, NJ, _, NL = SIZES[size]

    def update(beta: T, tmp: T[NI, NJ], C: T[NJ, NL], D: T[NI, NL]):
        for i in range(NI):
            for j in range(NL):
                D[i, j] *= beta
                for k in range(NJ):
                    D[i, j] += tmp[i, k] * C[k, j]

    return update


def kernel(size: str, T: AlloType = float32) -> Callable[..., None]:
    """The kernel for A of NI x NK, B of NK x NJ, C of NJ x NL, D of NI x NL."""
    NI, NJ, NK, NL = SIZES[size]
    multiply, accumulate = product(size, T), update(size, T)

    def two_mm(
        alpha: T,
        beta: T,
        tmp: T[NI, NJ],
        A: T[NI, NK],
        B: T[NK, NJ],
        C: T[NJ, NL],
        D: T[NI, NL],
    ):
        multiply(alpha, tmp, A, B)
        accumulate(beta, tmp, C, D)

    return two_mm


def tiles(size: str, dsp: int, lane: int) -> list[Tile]:
    """The lanes of both products, which share them; a row is multiplied by alpha once."""
    NI, NJ, NK, NL = SIZES[size]
    both = [Product(NJ, NK, row_dsp=DSP_PRODUCT, chained=True), Product(NL, NJ, chained=True)]

    def fits(first: Tile, second: Tile) -> bool:
        return first.columns % second.terms == 0  # banks of tmp for both

    return product_tiles(NI, both, dsp, lane, fits)


def product_by_rows(s: allo.Schedule, size: str, dsp: int, lane: int = DSP_LANE) -> None:
    """The sums of a block of rows of tmp take turns."""
    tile = tiles(size, dsp, lane)[0]
    row_wise(s, "tmp", tile)
    in_banks(s, s.A, tile.rows, tile.terms)
    in_banks(s, s.B, tile.terms, tile.columns)


def update_by_rows(s: allo.Schedule, size: str, dsp: int, lane: int = DSP_LANE) -> None:
    """The sums of a block of rows of D take turns."""
    tile = tiles(size, dsp, lane)[1]
    row_wise(s, "D", tile, tile)
    in_banks(s, s.tmp, tile.rows, tile.terms)
    in_banks(s, s.C, tile.terms, tile.columns)


def in_turn(s: allo.Schedule, size: str) -> None:
    """Both products in one function, so that they share multipliers and adders."""
    for stage in ("product", "update"):
        s.inline(stage)


def product_of_rows(size: str, T: AlloType = float32) -> Callable[..., None]:
    """tmp = alpha A B, a row after the other."""
    NI, NJ, NK, _ = SIZES[size]

    def row(i: index, alpha: T, A: T[NI, NK], B: T[NK, NJ], sums: T[NJ]):
        for j in range(NJ):
            sums[j] = 0.0
            for k in range(NK):
                sums[j] += alpha * A[i, k] * B[k, j]

    def product(alpha: T, A: T[NI, NK], B: T[NK, NJ], tmp: T[NI, NJ]):
        for i in range(NI):
            sums: T[NJ]
            row(i, alpha, A, B, sums)
            for j in range(NJ):
                tmp[i, j] = sums[j]

    return product


def product_in_order(s: allo.Schedule, size: str) -> None:
    """A row of tmp is computed while the one before leaves."""
    rows_in_order(s, "B", SIZES[size][1])


def update_of_rows(size: str, T: AlloType = float32) -> Callable[..., None]:
    """D = tmp C + beta D, which gets tmp in the order of its rows and keeps it."""
    NI, NJ, _, NL = SIZES[size]

    def update_row(i: index, beta: T, left: T[NJ], C: T[NJ, NL], D: T[NI, NL]):
        for j1 in range(NL):
            D[i, j1] *= beta
        for k in range(NJ):
            for j in range(NL):
                D[i, j] += left[k] * C[k, j]

    def update(beta: T, sums: T[NI, NJ], tmp: T[NI, NJ], C: T[NJ, NL], D: T[NI, NL]):
        for i in range(NI):
            left: T[NJ]
            for j0 in range(NJ):
                tmp[i, j0] = sums[i, j0]
                left[j0] = sums[i, j0]
            update_row(i, beta, left, C, D)

    return update


def row_by_row(s: allo.Schedule, size: str) -> None:
    """The sums of a row of D take turns, while the next row of tmp arrives."""
    NL = SIZES[size][3]
    lanes = divisor(NL, NL // turns(NL))
    for loop in ("j", "j1"):
        s.pipeline(s.split(f"update_row:{loop}", lanes)[0])
    for matrix in ("C", "D"):
        in_banks(s, f"update_row:{matrix}", 1, lanes)
    s.pipeline("j0")
    s.dataflow("i")


def streamed_stages(size: str, T: AlloType = float32) -> Callable[..., None]:
    """The same in two stages that pass on the elements of tmp one by one."""
    NI, NJ, NK, NL = SIZES[size]
    multiply, accumulate = product_of_rows(size, T), update_of_rows(size, T)

    def two_mm(
        alpha: T,
        beta: T,
        tmp: T[NI, NJ],
        A: T[NI, NK],
        B: T[NK, NJ],
        C: T[NJ, NL],
        D: T[NI, NL],
    ):
        sums: T[NI, NJ]
        multiply(alpha, A, B, sums)
        accumulate(beta, sums, tmp, C, D)

    return two_mm


def streamed(s: allo.Schedule, size: str) -> None:
    """Both stages at once: while a row is multiplied by C, the next one of tmp is computed."""
    s.relay(s.sums, "update", depth=SIZES[size][1])
    s.dataflow("two_mm")


def within(dsp: int, lane: int = DSP_LANE, **options: Any) -> Design:
    """The fastest design with this many DSPs, of which a lane takes `lane`."""
    choice = {"dsp": dsp, "lane": lane}
    parts = (Part(product, partial(product_by_rows, **choice)), Part(update, partial(update_by_rows, **choice)))
    return Design(kernel, in_turn, dsp, parts=parts, **options)


STREAMS = (Part(product_of_rows, product_in_order), Part(update_of_rows, row_by_row))
DESIGNS = {
    "vanilla": Design(kernel),
    "best": within(DEVICE),
    "dsp222": within(218),
    "dsp328": within(328),
    "dsp1942": within(1942),
    "dsp1942_fabric": within(1500, DSP_PRODUCT, operators=FABRIC),
    "dsp7435": within(7435),
    "streams": Design(streamed_stages, streamed, dsp=220, parts=STREAMS),
}


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


BENCHMARK = Benchmark("two_mm", ("NI", "NJ", "NK", "NL"), SIZES, kernel, arguments, reference, DESIGNS)
