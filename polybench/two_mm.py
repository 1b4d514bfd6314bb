"""2mm: D = alpha A B C + beta D, by way of tmp = alpha A B."""

# ruff: noqa: F821 - kernels declare arrays without a value

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import allo
from allo.ir.types import AlloType, float32

from .benchmark import DEVICE, Benchmark, Design
from .lanes import DSP_PRODUCT, Product, divisor, in_banks, product_tiles, row_wise, turns

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


def in_turn(s: allo.Schedule, size: str, dsp: int) -> None:
    """Two row-wise products in one function, so that they share multipliers and adders."""
    NI, NJ, NK, NL = SIZES[size]
    both = [Product(NJ, NK, row_dsp=DSP_PRODUCT), Product(NL, NJ)]  # alpha is multiplied once a row
    first, second = product_tiles(NI, both, dsp)
    row_wise(s, "product", "tmp", first)
    row_wise(s, "update", "D", second)
    in_banks(s, s.A, first.rows)
    in_banks(s, s.B, 1, first.columns)
    in_banks(s, "update:tmp", second.rows)
    in_banks(s, s.C, 1, second.columns)
    for function in ("product", "update"):
        s.inline(function)


def streamed_stages(size: str, T: AlloType = float32) -> Callable[..., None]:
    """The same in two stages that pass on the elements of tmp one by one."""
    NI, NJ, NK, NL = SIZES[size]

    def product(alpha: T, A: T[NI, NK], B: T[NK, NJ], sums: T[NI, NJ]):
        for i, j in allo.grid(NI, NJ):
            sums[i, j] = 0.0
            for k in range(NK):
                sums[i, j] += alpha * A[i, k] * B[k, j]

    def update(beta: T, sums: T[NI, NJ], tmp: T[NI, NJ], C: T[NJ, NL], D: T[NI, NL]):
        for i in range(NI):
            for j0 in range(NJ):
                tmp[i, j0] = sums[i, j0]
            for j1 in range(NL):
                D[i, j1] *= beta
            for k in range(NJ):
                for j in range(NL):
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
        sums: T[NI, NJ]
        product(alpha, A, B, sums)
        update(beta, sums, tmp, C, D)

    return two_mm


def streamed(s: allo.Schedule, size: str) -> None:
    """Both stages at once: while a row is multiplied by C, the next one of tmp is computed."""
    _, NJ, _, NL = SIZES[size]
    first, second = divisor(NJ, NJ // turns(NJ)), divisor(NL, NL // turns(NL))
    s.reorder("product:k", "product:j")
    in_banks(s, s.buffer_at("product:sums", "product:i"), first)
    for loop in ("product:j", "product:j_1"):
        s.pipeline(s.split(loop, first)[0])
    for loop in ("update:j", "update:j1"):
        s.pipeline(s.split(loop, second)[0])
    for loop in ("product:j_1_back", "update:j0"):
        s.pipeline(loop)
    s.relay(s.sums, "update", depth=NJ)
    for matrix, lanes in ((s.B, first), (s.C, second), (s.D, second)):
        in_banks(s, matrix, 1, lanes)
    s.dataflow("two_mm")


def within(dsp: int) -> Design:
    """The fastest design with this many DSPs."""
    return Design(kernel, partial(in_turn, dsp=dsp), dsp)


DESIGNS = {
    "vanilla": Design(kernel),
    "best": within(DEVICE),
    "dsp220": within(220),
    "dsp328": within(328),
    "dsp2560": within(2560),
    "streams": Design(streamed_stages, streamed, dsp=220),
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
