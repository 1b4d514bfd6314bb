"""gemm: C = alpha A B + beta C."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import allo
from allo.ir.types import AlloType, float32

from .benchmark import DEVICE, Benchmark, Design
from .lanes import DSP_LANE, DSP_PRODUCT, FABRIC, Product, in_banks, product_tiles, spread

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


def row_wise(s: allo.Schedule, size: str, dsp: int, lane: int = DSP_LANE) -> None:
    """The sums along k of all elements of C take turns."""
    NI, NJ, NK = SIZES[size]
    product = Product(NJ, NK, row_dsp=DSP_PRODUCT, chained=True)  # alpha is multiplied once a row
    (tile,) = product_tiles(NI, [product], dsp, lane)
    k, *term = s.split("k", tile.terms) if tile.terms > 1 else ("k",)
    s.reorder(k, "i", "j1", *term)
    spread(s, "S_i_0_1.i", "j", tile)
    spread(s, "S_i_0.i", "j1", tile)
    in_banks(s, s.C, tile.rows, tile.columns)
    in_banks(s, s.A, tile.rows, tile.terms)
    in_banks(s, s.B, tile.terms, tile.columns)


def within(dsp: int) -> Design:
    """The fastest design with this many DSPs."""
    return Design(kernel, partial(row_wise, dsp=dsp), dsp)


def without_adders(dsp: int) -> Design:
    """The fastest design with this many DSPs if adders take none."""
    return Design(kernel, partial(row_wise, dsp=dsp, lane=DSP_PRODUCT), dsp, operators=FABRIC)


DESIGNS = {
    "vanilla": Design(kernel),
    "best": within(DEVICE),
    "dsp175": without_adders(175),
    "dsp194": within(194),
    "dsp2552": within(2552),
    "dsp8304": within(8304),
}


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


BENCHMARK = Benchmark("gemm", ("NI", "NJ", "NK"), SIZES, kernel, arguments, reference, DESIGNS)
