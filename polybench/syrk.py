"""syrk: C = alpha A A^T + beta C in the lower triangle of C."""

# ruff: noqa: F821 - kernels declare arrays without a value

from collections.abc import Callable
from math import lcm
from typing import Any

import numpy as np

import allo
from allo.ir.types import AlloType, float32

from .benchmark import DEVICE, Benchmark, Design
from .lanes import Product, Tile, divisor, in_banks, product_tiles, spread

SIZES = {
    "MINI": (20, 30),
    "SMALL": (60, 80),
    "MEDIUM": (200, 240),
    "LARGE": (1000, 1200),
    "EXTRALARGE": (2000, 2600),
}


def kernel(size: str, T: AlloType = float32) -> Callable[..., None]:
    """The kernel for A of N x M, C of N x N."""
    M, N = SIZES[size]

    def syrk(alpha: T, beta: T, C: T[N, N], A: T[N, M]):
        for i in range(N):
            for j in range(i + 1):
                C[i, j] *= beta
            for k in range(M):
                for j1 in range(i + 1):
                    C[i, j1] += alpha * A[i, k] * A[j1, k]

    return syrk


def stages(size: str, T: AlloType = float32) -> Callable[..., None]:
    """The same as the product S, in both triangles, of which the lower one is added to beta C."""
    M, N = SIZES[size]

    def syrk(alpha: T, beta: T, C: T[N, N], A: T[N, M]):
        S: T[N, N]
        for i, j in allo.grid(N, N):
            S[i, j] = 0.0
            for k in range(M):
                S[i, j] += A[i, k] * A[j, k]
            if j <= i:
                C[i, j] = beta * C[i, j] + alpha * S[i, j]

    return syrk


def row_wise(s: allo.Schedule, size: str) -> None:
    """A row-wise product; half of the lanes add it to beta C, with two products each."""
    _, N = SIZES[size]

    def fits(tile: Tile) -> bool:
        return N % lcm(tile.rows, tile.columns) == 0  # banks of rows of A

    (tile,) = product_tiles(N, [Product(N // 2)], DEVICE, fits=fits)
    tile = tile._replace(width=N)
    half = tile._replace(columns=divisor(tile.columns, max(1, tile.columns // 2)))
    _, row = s.split("i", tile.block)
    s.reorder("k", row, "j")
    for i, j, lanes in (("i.inner_1", "j_1", tile), ("i.inner", "j", tile), ("i.inner_2", "j_2", half)):
        spread(s, i, j, lanes)
    sums = tile.rows, tile.columns
    for buffer, *banks in ((s.S, *sums), (s.C, *sums), (s.A, lcm(*sums))):
        in_banks(s, buffer, *banks)


DESIGNS = {"vanilla": Design(kernel), "best": Design(stages, row_wise, reassociated=True)}


def arguments(size: str, T: AlloType = float32) -> tuple[Any, ...]:
    """alpha, beta, C, A as PolyBench initialises them."""
    m, n = SIZES[size]
    row, column = np.ogrid[:n, :m]
    A = T[n, m]((row * column + 1) % n / n)
    row, column = np.ogrid[:n, :n]
    return 1.5, 1.2, T[n, n]((row * column + 2) % m / m), A


def reference(size: str, alpha: float, beta: float, C: Any, A: Any) -> None:
    """The kernel in NumPy."""
    C[...] = np.tril(beta * C + alpha * (A @ A.T)) + np.triu(C, 1)


BENCHMARK = Benchmark("syrk", ("M", "N"), SIZES, kernel, arguments, reference, DESIGNS)
