"""symm: C = alpha A B + beta C for a symmetric A of which the lower triangle is stored."""

# ruff: noqa: F821 - kernels declare arrays without a value

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import allo
from allo.ir.types import AlloType, float32

from .benchmark import DEVICE, Benchmark, Design
from .lanes import Product, divisor, in_banks, product_tiles, spread, turns

SIZES = {
    "MINI": (20, 30),
    "SMALL": (60, 80),
    "MEDIUM": (200, 240),
    "LARGE": (1000, 1200),
    "EXTRALARGE": (2000, 2600),
}


def kernel(size: str, T: AlloType = float32) -> Callable[..., None]:
    """The kernel for A of M x M, B and C of M x N."""
    M, N = SIZES[size]

    def symm(alpha: T, beta: T, C: T[M, N], A: T[M, M], B: T[M, N]):
        for i in range(M):
            for j in range(N):
                temp2: T = 0.0
                for k in range(i):
                    C[k, j] += alpha * B[i, j] * A[i, k]
                    temp2 += B[k, j] * A[i, k]
                C[i, j] = beta * C[i, j] + alpha * B[i, j] * A[i, i] + alpha * temp2

    return symm


def stages(size: str, T: AlloType = float32) -> Callable[..., None]:
    """The same as the product S with the whole symmetric matrix, which is then added to beta C."""
    M, N = SIZES[size]

    def symm(alpha: T, beta: T, C: T[M, N], A: T[M, M], B: T[M, N]):
        S: T[M, N]
        for i, j in allo.grid(M, N):
            S[i, j] = 0.0
            for k in range(M):
                S[i, j] += (A[i, k] if k <= i else A[k, i]) * B[k, j]
            C[i, j] = beta * C[i, j] + alpha * S[i, j]

    return symm


def row_wise(s: allo.Schedule, size: str, dsp: int) -> None:
    """The sums of a block of rows take turns; half of the lanes add them to beta C, with two products each."""
    M, N = SIZES[size]
    (tile,) = product_tiles(M, [Product(N // 2)], dsp)
    half = tile._replace(columns=divisor(tile.columns, max(1, tile.columns // 2)))
    _, row = s.split("i", tile.block)
    s.reorder("k", row, "j")
    for i, j, lanes in (("i.inner_1", "j_1", tile), ("i.inner", "j", tile), ("i.inner_2", "j_2", half)):
        spread(s, i, j, lanes)
    for buffer, *banks in (
        (s.S, *tile[1:]),
        (s.B, 1, tile.columns),
        (s.C, *tile[1:]),
        (s.A, tile.rows, tile.rows),
    ):
        in_banks(s, buffer, *banks)


def streamed_stages(size: str, T: AlloType = float32) -> Callable[..., None]:
    """The same in two stages that pass on the elements of the product one by one."""
    M, N = SIZES[size]

    def product(A: T[M, M], B: T[M, N], S: T[M, N]):
        for i, j in allo.grid(M, N):
            S[i, j] = 0.0
            for k in range(M):
                S[i, j] += (A[i, k] if k <= i else A[k, i]) * B[k, j]

    def add(alpha: T, beta: T, S: T[M, N], C: T[M, N]):
        for i, j in allo.grid(M, N):
            C[i, j] = beta * C[i, j] + alpha * S[i, j]

    def symm(alpha: T, beta: T, C: T[M, N], A: T[M, M], B: T[M, N]):
        S: T[M, N]
        product(A, B, S)
        add(alpha, beta, S, C)

    return symm


def streamed(s: allo.Schedule, size: str) -> None:
    """A row-wise product, whose rows are added while the next ones are computed."""
    N = SIZES[size][1]
    lanes = divisor(N, N // turns(N))
    s.reorder("product:k", "product:j")
    in_banks(s, s.buffer_at("product:S", "product:i"), lanes)
    for loop in ("j", "j_1"):
        s.pipeline(s.split(f"product:{loop}", lanes)[0])
    for loop in ("product:j_1_back", "add:j"):
        s.pipeline(loop)
    in_banks(s, s.B, 1, lanes)
    s.relay(s.S, "add", depth=N)
    s.dataflow("symm")


def within(dsp: int) -> Design:
    """The fastest design with this many DSPs."""
    return Design(stages, partial(row_wise, dsp=dsp), dsp, reassociated=True)


DESIGNS = {
    "vanilla": Design(kernel),
    "best": within(DEVICE),
    "table3": within(1208),
    "streams": Design(streamed_stages, streamed, dsp=128, reassociated=True),
}


def arguments(size: str, T: AlloType = float32) -> tuple[Any, ...]:
    """alpha, beta, C, A, B as PolyBench initialises them; the upper triangle of A must not be read."""
    m, n = SIZES[size]
    row, column = np.ogrid[:m, :n]
    C = T[m, n]((row + column) % 100 / m)
    B = T[m, n]((n + row - column) % 100 / m)
    row, column = np.ogrid[:m, :m]
    A = T[m, m](np.where(column <= row, (row + column) % 100 / m, -999))
    return 1.5, 1.2, C, A, B


def reference(size: str, alpha: float, beta: float, C: Any, A: Any, B: Any) -> None:
    """The kernel in NumPy."""
    symmetric = np.tril(A) + np.tril(A, -1).T
    C[...] = beta * C + alpha * (symmetric @ B)


BENCHMARK = Benchmark("symm", ("M", "N"), SIZES, kernel, arguments, reference, DESIGNS)
