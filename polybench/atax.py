"""atax: y = A^T (A x)."""

# ruff: noqa: F821 - kernels declare arrays without a value

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import allo
from allo.ir.types import AlloType, float32

from . import matrix_streams
from .benchmark import DEVICE, Benchmark, Design, Part
from .lanes import tree_tile
from .matrix_vector import by_pieces, column_sums, in_turn, row_sums

SIZES = {
    "MINI": (38, 42),
    "SMALL": (116, 124),
    "MEDIUM": (390, 410),
    "LARGE": (1900, 2100),
    "EXTRALARGE": (1800, 2200),
}


def kernel(size: str, T: AlloType = float32) -> Callable[..., None]:
    """The kernel for A of M x N; tmp holds A x."""
    M, N = SIZES[size]

    def atax(A: T[M, N], x: T[N], y: T[N], tmp: T[M]):
        for j in range(N):
            y[j] = 0.0
        for i in range(M):
            tmp[i] = 0.0
            for j in range(N):
                tmp[i] += A[i, j] * x[j]
            for j1 in range(N):
                y[j1] += A[i, j1] * tmp[i]

    return atax


def tile(size: str, dsp: int) -> tuple[int, int]:
    """The rows and columns of a piece of A."""
    return tree_tile(*SIZES[size], dsp)


def rows(size: str, T: AlloType = float32, dsp: int = DEVICE) -> Callable[..., None]:
    """tmp = A x."""
    return row_sums(*SIZES[size], tile(size, dsp)[1], T, fresh=True)


def columns(size: str, T: AlloType = float32, dsp: int = DEVICE) -> Callable[..., None]:
    """y = A^T tmp."""
    return column_sums(*SIZES[size], tile(size, dsp)[0], T, fresh=True)


def stages(size: str, T: AlloType = float32, dsp: int = DEVICE) -> Callable[..., None]:
    """The same in two stages, A x and A^T of it."""
    M, N = SIZES[size]
    product, transposed_product = rows(size, T, dsp), columns(size, T, dsp)

    def atax(A: T[M, N], x: T[N], y: T[N], tmp: T[M]):
        product(A, x, tmp)
        transposed_product(A, tmp, y)

    return atax


def within(dsp: int) -> Design:
    """The fastest design with this many DSPs."""
    pieces = partial(tile, dsp=dsp)
    parts = (
        Part(partial(rows, dsp=dsp), partial(by_pieces, sums="i", tile=pieces)),
        Part(partial(columns, dsp=dsp), partial(by_pieces, sums="j", tile=pieces)),
    )
    return Design(partial(stages, dsp=dsp), in_turn, dsp, reassociated=True, parts=parts)


def shape(size: str) -> tuple[int, int]:
    """The rows and columns of A."""
    return SIZES[size]


def keep(size: str, T: AlloType = float32) -> Callable[..., None]:
    """A x in `tmp`, and once more."""
    M, _ = SIZES[size]

    def keep(sums: T[M], tmp: T[M], kept: T[M]):
        for i in range(M):
            tmp[i] = sums[i]
            kept[i] = sums[i]

    return keep


def one_by_one(s: allo.Schedule, size: str) -> None:
    """An element in each cycle."""
    s.pipeline("i")


def streamed_stages(size: str, T: AlloType = float32) -> Callable[..., None]:
    """The same in stages, of which the first one sends the rows of A to both products."""
    M, N = SIZES[size]
    C = matrix_streams.lanes(N)
    send, spread, multiply, add, add_columns = (stage.kernel(size, T) for stage in STAGES)
    keep_sums = keep(size, T)

    def atax(A: T[M, N], x: T[N], y: T[N], tmp: T[M]):
        sent: T[M, N // C, C]
        x_sent: T[N // C, C]
        terms: T[M, N // C]
        sums: T[M]
        kept: T[M]
        send(A, sent)
        spread(x, x_sent)
        multiply(sent, x_sent, terms)
        add(terms, sums)
        keep_sums(sums, tmp, kept)
        add_columns(sent, kept, y)

    return atax


def streamed(s: allo.Schedule, size: str) -> None:
    """All stages at once; rows of A wait for their sums."""
    s.relay(s.sent, "columns", depth=matrix_streams.waiting(*SIZES[size]))
    for array, stage in (("x_sent", "products"), ("sent", "products"), ("terms", "rows"), ("sums", "keep")):
        s.relay(s.buffers[array], stage, depth=2)
    s.relay(s.kept, "columns", depth=matrix_streams.block(SIZES[size][0]))
    s.dataflow("atax")


STAGES = matrix_streams.parts(shape)
STREAMS = (*STAGES, Part(keep, one_by_one))
DESIGNS = {
    "vanilla": Design(kernel),
    "best": within(DEVICE),
    "dsp202": within(202),
    "table3": within(403),
    "dsp1502": within(1502),
    "streams": Design(streamed_stages, streamed, dsp=430, reassociated=True, parts=STREAMS),
}


def arguments(size: str, T: AlloType = float32) -> tuple[Any, ...]:
    """A, x, y, tmp as PolyBench initialises them."""
    m, n = SIZES[size]
    row, column = np.ogrid[:m, :n]
    A = T[m, n]((row + column) % n / (5 * m))
    return A, T[n](1 + np.arange(n) / n), T[n](0), T[m](0)


def reference(size: str, A: Any, x: Any, y: Any, tmp: Any) -> None:
    """The kernel in NumPy."""
    tmp[...] = A @ x
    y[...] = tmp @ A


BENCHMARK = Benchmark("atax", ("M", "N"), SIZES, kernel, arguments, reference, DESIGNS)
