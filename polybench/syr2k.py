"""syr2k: C = alpha (A B^T + B A^T) + beta C in the lower triangle of C."""

# ruff: noqa: F821 - kernels declare arrays without a value

from collections.abc import Callable
from math import lcm
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
    """The kernel for A and B of N x M, C of N x N."""
    M, N = SIZES[size]

    def syr2k(alpha: T, beta: T, C: T[N, N], A: T[N, M], B: T[N, M]):
        for i in range(N):
            for j in range(i + 1):
                C[i, j] *= beta
            for k in range(M):
                for j1 in range(i + 1):
                    C[i, j1] += A[j1, k] * alpha * B[i, k] + B[j1, k] * alpha * A[i, k]

    return syr2k


def stages(size: str, T: AlloType = float32) -> Callable[..., None]:
    """The same as the product S, in both triangles, of which the lower one is added to beta C."""
    M, N = SIZES[size]

    def syr2k(alpha: T, beta: T, C: T[N, N], A: T[N, M], B: T[N, M]):
        S: T[N, N]
        for i, j in allo.grid(N, N):
            S[i, j] = 0.0
            for k in range(M):
                S[i, j] += A[j, k] * B[i, k] + B[j, k] * A[i, k]
            if j <= i:
                C[i, j] = beta * C[i, j] + alpha * S[i, j]

    return syr2k


def row_wise(s: allo.Schedule, size: str) -> None:
    """A row-wise product, whose lanes then multiply it by alpha, and C by beta."""
    _, N = SIZES[size]

    def fits(tile: Tile) -> bool:
        return N % lcm(tile.rows, tile.columns) == 0  # banks of rows of A and B

    (tile,) = product_tiles(N, [Product(N)], DEVICE // 2, fits=fits)  # two products in each lane
    _, row = s.split("i", tile.block)
    s.reorder("k", row, "j")
    for i, j in (("i.inner_1", "j_1"), ("i.inner", "j"), ("i.inner_2", "j_2")):
        spread(s, i, j, tile)
    sums = tile.rows, tile.columns
    for buffer, *banks in ((s.S, *sums), (s.C, *sums), (s.A, lcm(*sums)), (s.B, lcm(*sums))):
        in_banks(s, buffer, *banks)


DESIGNS = {"vanilla": Design(kernel), "best": Design(stages, row_wise, reassociated=True)}


def arguments(size: str, T: AlloType = float32) -> tuple[Any, ...]:
    """alpha, beta, C, A, B as PolyBench initialises them."""
    m, n = SIZES[size]
    row, column = np.ogrid[:n, :m]
    A = T[n, m]((row * column + 1) % n / n)
    B = T[n, m]((row * column + 2) % m / m)
    row, column = np.ogrid[:n, :n]
    return 1.5, 1.2, T[n, n]((row * column + 3) % n / m), A, B


def reference(size: str, alpha: float, beta: float, C: Any, A: Any, B: Any) -> None:
    """The kernel in NumPy."""
    half = A @ B.T
    C[...] = np.tril(beta * C + alpha * (half + half.T)) + np.triu(C, 1)


BENCHMARK = Benchmark("syr2k", ("M", "N"), SIZES, kernel, arguments, reference, DESIGNS)
