"""trmm: B = alpha A^T B for a lower triangular A with a diagonal of ones."""

# ruff: noqa: F821 - kernels declare arrays without a value

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import allo
from allo.ir.types import AlloType, float32

from .benchmark import DEVICE, Benchmark, Design
from .lanes import Product, Tile, in_banks, product_tiles, spread

SIZES = {
    "MINI": (20, 30),
    "SMALL": (60, 80),
    "MEDIUM": (200, 240),
    "LARGE": (1000, 1200),
    "EXTRALARGE": (2000, 2600),
}


def kernel(size: str, T: AlloType = float32) -> Callable[..., None]:
    """The kernel for A of M x M, B of M x N."""
    M, N = SIZES[size]

    def trmm(alpha: T, A: T[M, M], B: T[M, N]):
        for i in range(M):
            for j in range(N):
                for k in range(i + 1, M):
                    B[i, j] += A[k, i] * B[k, j]
                B[i, j] = alpha * B[i, j]

    return trmm


def lanes(size: str, dsp: int) -> Tile:
    """The lanes of the product."""
    M, N = SIZES[size]
    return product_tiles(M, [Product(N, even=True)], dsp)[0]


def stages(size: str, T: AlloType = float32, dsp: int = DEVICE) -> Callable[..., None]:
    """The same by blocks of rows, whose sums S take turns."""
    M, N = SIZES[size]
    BLOCK = lanes(size, dsp).block

    def trmm(alpha: T, A: T[M, M], B: T[M, N]):
        for b in range(M // BLOCK):
            S: T[BLOCK, N]
            for i0, j0 in allo.grid(BLOCK, N):
                S[i0, j0] = B[BLOCK * b + i0, j0]
            for k in range(BLOCK * b + 1, M):
                for i, j in allo.grid(BLOCK, N):
                    if k > BLOCK * b + i:
                        S[i, j] += A[k, BLOCK * b + i] * B[k, j]
            for i1, j1 in allo.grid(BLOCK, N):
                B[BLOCK * b + i1, j1] = alpha * S[i1, j1]

    return trmm


def by_blocks(s: allo.Schedule, size: str, dsp: int) -> None:
    """A row-wise product; the multiplication by alpha uses its multipliers."""
    tile = lanes(size, dsp)
    for i, j in (("i0", "j0"), ("i", "j"), ("i1", "j1")):
        spread(s, i, j, tile)
    for buffer, *banks in (
        (s.S, tile.rows, tile.columns),
        (s.B, tile.rows, tile.columns),
        (s.A, 1, tile.rows),
    ):
        in_banks(s, buffer, *banks)


def within(dsp: int) -> Design:
    """The fastest design with this many DSPs."""
    return Design(partial(stages, dsp=dsp), partial(by_blocks, dsp=dsp), dsp)


DESIGNS = {
    "vanilla": Design(kernel),
    "best": within(DEVICE),
    "table3": within(101),
}


def arguments(size: str, T: AlloType = float32) -> tuple[Any, ...]:
    """alpha, A, B as PolyBench initialises them."""
    m, n = SIZES[size]
    row, column = np.ogrid[:m, :m]
    A = T[m, m](np.tril((row + column) % m / m, -1) + np.eye(m))
    row, column = np.ogrid[:m, :n]
    return 1.5, A, T[m, n]((n + row - column) % n / n)


def reference(size: str, alpha: float, A: Any, B: Any) -> None:
    """The kernel in NumPy."""
    B[...] = alpha * (A.T @ B)


BENCHMARK = Benchmark("trmm", ("M", "N"), SIZES, kernel, arguments, reference, DESIGNS)
