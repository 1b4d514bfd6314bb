"""bicg: s = A^T r and q = A p in one pass over A."""

# ruff: noqa: F821 - kernels declare arrays without a value

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import allo
from allo.ir.types import AlloType, float32

from . import matrix_streams
from .benchmark import DEVICE, Benchmark, Design, Part
from .lanes import (
    DSP_LANE,
    DSP_PRODUCT,
    FABRIC,
    MOST_BANKS,
    divisors,
    halvings,
    in_banks,
    tree_tile,
    turns,
    unroll,
)
from .matrix_vector import by_pieces, column_sums, in_turn, row_sums

SIZES = {
    "MINI": (38, 42),
    "SMALL": (116, 124),
    "MEDIUM": (390, 410),
    "LARGE": (1900, 2100),
    "EXTRALARGE": (1800, 2200),
}


def kernel(size: str, T: AlloType = float32) -> Callable[..., None]:
    """The kernel for A of N x M."""
    M, N = SIZES[size]

    def bicg(A: T[N, M], s: T[M], q: T[N], p: T[M], r: T[N]):
        for j in range(M):
            s[j] = 0.0
        for i in range(N):
            q[i] = 0.0
            for j1 in range(M):
                s[j1] += r[i] * A[i, j1]
                q[i] += A[i, j1] * p[j1]

    return bicg


def tile(size: str, dsp: int) -> tuple[int, int]:
    """The rows and columns of a piece of A."""
    M, N = SIZES[size]
    return tree_tile(N, M, dsp)


def rows(size: str, T: AlloType = float32, dsp: int = DEVICE) -> Callable[..., None]:
    """q = A p."""
    M, N = SIZES[size]
    return row_sums(N, M, tile(size, dsp)[1], T, fresh=True)


def columns(size: str, T: AlloType = float32, dsp: int = DEVICE) -> Callable[..., None]:
    """s = A^T r."""
    M, N = SIZES[size]
    return column_sums(N, M, tile(size, dsp)[0], T, fresh=True)


def stages(size: str, T: AlloType = float32, dsp: int = DEVICE) -> Callable[..., None]:
    """The same in two passes over A, one for each product."""
    M, N = SIZES[size]
    product, transposed_product = rows(size, T, dsp), columns(size, T, dsp)

    def bicg(A: T[N, M], s: T[M], q: T[N], p: T[M], r: T[N]):
        product(A, p, q)
        transposed_product(A, r, s)

    return bicg


def within(dsp: int) -> Design:
    """The fastest design with this many DSPs."""
    pieces = partial(tile, dsp=dsp)
    parts = (
        Part(partial(rows, dsp=dsp), partial(by_pieces, sums="i", tile=pieces)),
        Part(partial(columns, dsp=dsp), partial(by_pieces, sums="j", tile=pieces)),
    )
    return Design(partial(stages, dsp=dsp), in_turn, dsp, reassociated=True, parts=parts)


def piece(size: str, lanes: int) -> tuple[int, int]:
    """The rows and columns of a piece of A for both products at once; A has no more columns of them than rows."""
    M, N = SIZES[size]
    choices = [
        (r * c, r, c)
        for r in divisors(N)
        for c in divisors(M)
        if 2 * r * c <= lanes and r * c <= MOST_BANKS and turns(M) <= M // c <= N // r
    ]
    return max(choices)[1:]


def diagonal_stages(size: str, T: AlloType = float32, lanes: int = 200) -> Callable[..., None]:
    """The same in one pass over the pieces of A, along diagonals: no sum is needed twice within a diagonal.

    Pieces are R x C, in P rows and Q columns; number b of diagonal a is in column b and in row a + b, modulo P.
    """
    M, N = SIZES[size]
    R, C = piece(size, lanes)
    P, Q = N // R, M // C
    BY_ROW, BY_COLUMN = halvings(C), halvings(R)

    def bicg(A: T[N, M], s: T[M], q: T[N], p: T[M], r: T[N]):
        sums: T[P, R]
        for a in range(P):
            for b in range(Q):
                u: T[R, C]
                v: T[C, R]
                for i, j in allo.grid(R, C):
                    element: T = (
                        A[R * (a + b) + i, C * b + j] if a + b < P else A[R * (a + b - P) + i, C * b + j]
                    )
                    u[i, j] = element * p[C * b + j]
                    v[j, i] = element * (r[R * (a + b) + i] if a + b < P else r[R * (a + b - P) + i])
                for j1 in range(C):
                    with allo.meta_for(BY_COLUMN) as terms:
                        for pair in range(terms // 2):
                            v[j1, pair] += v[j1, pair + (terms + 1) // 2]
                    s[C * b + j1] = v[j1, 0] if a == 0 else s[C * b + j1] + v[j1, 0]
                for i1 in range(R):
                    with allo.meta_for(BY_ROW) as terms:
                        for pair in range(terms // 2):
                            u[i1, pair] += u[i1, pair + (terms + 1) // 2]
                    known: T = 0.0  # before the first piece of the row
                    if a + b >= P:
                        known = sums[a + b - P, i1]
                    elif a > 0 and b < Q - 1:
                        known = sums[a + b, i1]
                    total: T = known + u[i1, 0]
                    if a + b < P:
                        sums[a + b, i1] = total
                    else:
                        sums[a + b - P, i1] = total
        for i2, i3 in allo.grid(P, R):
            q[R * i2 + i3] = sums[i2, i3]

    return bicg


def on_diagonals(s: allo.Schedule, size: str, lanes: int) -> None:
    """A piece in each cycle, for both products."""
    _, N = SIZES[size]
    R, C = piece(size, lanes)
    s.pipeline("b")
    unroll(s, "i2", "i3")
    for buffer, *banks in (("A", R, C), ("s", C), ("p", C), ("r", R), ("q", N)):
        in_banks(s, f"bicg:{buffer}", *banks)
    for buffer in ("sums", "u", "v"):
        s.partition(f"bicg:{buffer}")


def in_one_pass(dsp: int, lane: int = DSP_LANE, **options: Any) -> Design:
    """A design with this many DSPs, of which a lane takes `lane`, that takes each piece of A once."""
    lanes = dsp // lane
    kernel, schedule = partial(diagonal_stages, lanes=lanes), partial(on_diagonals, lanes=lanes)
    return Design(kernel, schedule, dsp, reassociated=True, **options)


def shape(size: str) -> tuple[int, int]:
    """The rows and columns of A."""
    M, N = SIZES[size]
    return N, M


STAGES = matrix_streams.parts(shape)


def streamed_stages(size: str, T: AlloType = float32) -> Callable[..., None]:
    """The same in stages, of which the first one sends the rows of A to both products."""
    M, N = SIZES[size]
    C = matrix_streams.lanes(M)
    send, spread, multiply, add, add_columns = (stage.kernel(size, T) for stage in STAGES)

    def bicg(A: T[N, M], s: T[M], q: T[N], p: T[M], r: T[N]):
        sent: T[N, M // C, C]
        p_sent: T[M // C, C]
        terms: T[N, M // C]
        send(A, sent)
        spread(p, p_sent)
        multiply(sent, p_sent, terms)
        add(terms, q)
        add_columns(sent, r, s)

    return bicg


def streamed(s: allo.Schedule, size: str) -> None:
    """Both products at once, from one pass over A."""
    for array, stage in (
        ("p_sent", "products"),
        ("sent", "products"),
        ("sent", "columns"),
        ("terms", "rows"),
    ):
        s.relay(s.buffers[array], stage, depth=2)
    s.dataflow("bicg")


DESIGNS = {
    "vanilla": Design(kernel),
    "best": within(DEVICE),
    "dsp201": in_one_pass(201),
    "dsp603": in_one_pass(603, DSP_PRODUCT, operators=FABRIC),
    "dsp1501": in_one_pass(1501),
    "streams": Design(streamed_stages, streamed, dsp=400, reassociated=True, parts=STAGES),
}


def arguments(size: str, T: AlloType = float32) -> tuple[Any, ...]:
    """A, s, q, p, r as PolyBench initialises them."""
    m, n = SIZES[size]
    row, column = np.ogrid[:n, :m]
    A = T[n, m](row * (column + 1) % n / n)
    return A, T[m](0), T[n](0), T[m](np.arange(m) / m), T[n](np.arange(n) / n)


def reference(size: str, A: Any, s: Any, q: Any, p: Any, r: Any) -> None:
    """The kernel in NumPy."""
    s[...] = r @ A
    q[...] = A @ p


BENCHMARK = Benchmark("bicg", ("M", "N"), SIZES, kernel, arguments, reference, DESIGNS)
