"""symm: C = alpha A B + beta C for a symmetric A of which the lower triangle is stored."""

# ruff: noqa: F821 - kernels declare arrays without a value

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

import allo
from allo.ir.types import AlloType, float32, index

from .benchmark import DEVICE, Benchmark, Design, Part
from .lanes import Product, Tile, divisor, in_banks, product_tiles, rows_in_order, spread

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


def product(size: str, T: AlloType = float32) -> Callable[..., None]:
    """The product S of the whole symmetric matrix with B."""
    M, N = SIZES[size]

    def product(A: T[M, M], B: T[M, N], S: T[M, N]):
        for i, j in allo.grid(M, N):
            S[i, j] = 0.0
            for k in range(M):
                S[i, j] += (A[i, k] if k <= i else A[k, i]) * B[k, j]

    return product


def add(size: str, T: AlloType = float32) -> Callable[..., None]:
    """C = alpha S + beta C."""
    M, N = SIZES[size]

    def add(alpha: T, beta: T, S: T[M, N], C: T[M, N]):
        for i, j in allo.grid(M, N):
            C[i, j] = beta * C[i, j] + alpha * S[i, j]

    return add


def stages(
    size: str, T: AlloType = float32, first: Callable[..., Callable[..., None]] = product
) -> Callable[..., None]:
    """The same in two stages, of which `first` makes the product."""
    M, N = SIZES[size]
    multiply, accumulate = first(size, T), add(size, T)

    def symm(alpha: T, beta: T, C: T[M, N], A: T[M, M], B: T[M, N]):
        S: T[M, N]
        multiply(A, B, S)
        accumulate(alpha, beta, S, C)

    return symm


def lanes(size: str, dsp: int, each: int) -> Tile:
    """The lanes of the product; where an element takes the multipliers of `each` of them, fewer."""
    M, N = SIZES[size]
    (tile,) = product_tiles(M, [Product(N // 2)], dsp)
    tile = tile._replace(width=N)
    return tile if each == 1 else tile._replace(columns=divisor(tile.columns, max(1, tile.columns // each)))


def by_tiles(
    s: allo.Schedule, size: str, dsp: int, nests: Sequence[tuple[str, str]] = (("i", "j"),), each: int = 2
) -> None:
    """A tile of elements in each cycle of each nest."""
    tile = lanes(size, dsp, each)
    for i, j in nests:
        spread(s, i, j, tile)
    sums = tile.rows, tile.columns
    arrays = {"A": (tile.rows, tile.rows), "B": (1, tile.columns), "S": sums, "C": sums}
    for buffer, banks in arrays.items():
        if buffer in s.buffers:
            in_banks(s, s.buffers[buffer], *banks)


def product_by_rows(s: allo.Schedule, size: str, dsp: int) -> None:
    """A row-wise product: the sums of all elements take turns."""
    s.reorder("k", "i", "j")
    by_tiles(s, size, dsp, [(f"{nest}.i", f"{nest}.j") for nest in ("S_i_j_0_1", "S_i_j_0")], each=1)


def in_turn(s: allo.Schedule, size: str) -> None:
    """Both stages in one function, so that they share multipliers and adders."""
    for stage in ("product", "add"):
        s.inline(stage)


def within(dsp: int) -> Design:
    """The fastest design with this many DSPs."""
    parts = (Part(product, partial(product_by_rows, dsp=dsp)), Part(add, partial(by_tiles, dsp=dsp)))
    return Design(stages, in_turn, dsp, reassociated=True, parts=parts)


def product_of_rows(size: str, T: AlloType = float32) -> Callable[..., None]:
    """The product S, a row after the other."""
    M, N = SIZES[size]

    def row(i: index, A: T[M, M], B: T[M, N], sums: T[N]):
        for j in range(N):
            sums[j] = 0.0
            for k in range(M):
                sums[j] += (A[i, k] if k <= i else A[k, i]) * B[k, j]

    def product(A: T[M, M], B: T[M, N], S: T[M, N]):
        for i in range(M):
            sums: T[N]
            row(i, A, B, sums)
            for j in range(N):
                S[i, j] = sums[j]

    return product


def product_in_order(s: allo.Schedule, size: str) -> None:
    """A row of the product is computed while the one before leaves."""
    rows_in_order(s, "B", SIZES[size][1])


def one_by_one(s: allo.Schedule, size: str) -> None:
    """An element in each cycle."""
    s.pipeline("j")


def streamed(s: allo.Schedule, size: str) -> None:
    """Both stages at once: rows of the product are added while the next ones are computed."""
    s.relay(s.S, "add", depth=SIZES[size][1])
    s.dataflow("symm")


STREAMS = (Part(product_of_rows, product_in_order), Part(add, one_by_one))
DESIGNS = {
    "vanilla": Design(kernel),
    "best": within(DEVICE),
    "table3": within(1208),
    "streams": Design(
        partial(stages, first=product_of_rows), streamed, dsp=128, reassociated=True, parts=STREAMS
    ),
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
