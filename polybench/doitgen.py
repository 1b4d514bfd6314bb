"""doitgen: each row A[r, q] of a three-dimensional array is multiplied by C4."""

# ruff: noqa: F821 - kernels declare arrays without a value

import itertools
from collections.abc import Callable
from functools import partial
from math import prod
from typing import Any, NamedTuple

import numpy as np

import allo
from allo.ir.types import AlloType, float32, index

from .benchmark import DEVICE, Benchmark, Design, Part
from .lanes import DSP_LANE, MOST_BANKS, divisors, in_banks, turns

SIZES = {
    "MINI": (8, 10, 12),
    "SMALL": (20, 25, 30),
    "MEDIUM": (40, 50, 60),
    "LARGE": (140, 150, 160),
    "EXTRALARGE": (220, 250, 270),
}


def kernel(size: str, T: AlloType = float32) -> Callable[..., None]:
    """The kernel for A of NR x NQ x NP, C4 of NP x NP; sum holds the new row."""
    NQ, NR, NP = SIZES[size]

    def doitgen(A: T[NR, NQ, NP], C4: T[NP, NP], sum: T[NP]):
        for r in range(NR):
            for q in range(NQ):
                for p in range(NP):
                    sum[p] = 0.0
                    for s in range(NP):
                        sum[p] += A[r, q, s] * C4[s, p]
                for p1 in range(NP):
                    A[r, q, p1] = sum[p1]

    return doitgen


class Lanes(NamedTuple):
    """The elements of A that are computed at once; `block` of the matrices A[r] take turns at them."""

    block: int
    matrices: int
    rows: int
    columns: int


def lanes(size: str, dsp: int) -> Lanes:
    """The most lanes, of as few matrices as may be, and the smallest block in which no sum is needed too early."""
    NQ, NR, NP = SIZES[size]
    choices = itertools.product(divisors(NR), divisors(NQ), divisors(NP))
    elements = NR * NQ * NP
    most = min(dsp // DSP_LANE, MOST_BANKS, elements // turns(elements))
    pieces = [piece for piece in choices if prod(piece) <= most]
    r, q, p = max(pieces, key=lambda piece: (prod(piece), -piece[0], piece))
    count = NQ // q * NP // p
    block = next(b for b in divisors(NR) if b % r == 0 and b // r * count >= turns(NR // r * count))
    return Lanes(block, r, q, p)


def product(size: str, T: AlloType = float32, dsp: int = DEVICE) -> Callable[..., None]:
    """The product of a block of some A[r] with C4."""
    NQ, NR, NP = SIZES[size]
    BLOCK = lanes(size, dsp).block

    def product(b: index, A: T[NR, NQ, NP], C4: T[NP, NP], S: T[BLOCK, NQ, NP]):
        for r, q, p in allo.grid(BLOCK, NQ, NP):
            S[r, q, p] = 0.0
            for s in range(NP):
                S[r, q, p] += A[BLOCK * b + r, q, s] * C4[s, p]

    return product


def write_back(size: str, T: AlloType = float32, dsp: int = DEVICE) -> Callable[..., None]:
    """The products in the place of the block."""
    NQ, NR, NP = SIZES[size]
    BLOCK = lanes(size, dsp).block

    def write_back(b: index, S: T[BLOCK, NQ, NP], A: T[NR, NQ, NP]):
        for r, q, p in allo.grid(BLOCK, NQ, NP):
            A[BLOCK * b + r, q, p] = S[r, q, p]

    return write_back


def stages(size: str, T: AlloType = float32, dsp: int = DEVICE) -> Callable[..., None]:
    """The same by blocks of some A[r], whose rows all take turns."""
    NQ, NR, NP = SIZES[size]
    BLOCK = lanes(size, dsp).block
    multiply, store = product(size, T, dsp), write_back(size, T, dsp)

    def doitgen(A: T[NR, NQ, NP], C4: T[NP, NP], sum: T[NP]):
        for b in range(NR // BLOCK):
            S: T[BLOCK, NQ, NP]
            multiply(b, A, C4, S)
            store(b, S, A)
        for p2 in range(NP):
            sum[p2] = A[NR - 1, NQ - 1, p2]

    return doitgen


def by_tiles(s: allo.Schedule, size: str, dsp: int, nests: tuple[str, ...] = ("S_r_q_p_0",)) -> None:
    """The elements of all lanes in each cycle of each nest."""
    NQ, _, NP = SIZES[size]
    block, *tile = lanes(size, dsp)
    taking_turns = [extent > count for extent, count in zip((block, NQ, NP), tile, strict=True)]
    for nest in nests:
        split = [s.split(f"{nest}.{loop}", count) for loop, count in zip("rqp", tile, strict=True)]
        outer, inner = zip(*split, strict=True)
        s.reorder(*outer, *inner)
        s.pipeline([loop for loop, several in zip(outer, taking_turns, strict=True) if several][-1])
    for buffer in (s.S, s.A):
        in_banks(s, buffer, *tile)


def row_wise(s: allo.Schedule, size: str, dsp: int) -> None:
    """A row-wise product: the sums of all elements of a block take turns."""
    s.reorder("s", "r", "q", "p")
    by_tiles(s, size, dsp, ("S_r_q_p_0_1", "S_r_q_p_0"))
    in_banks(s, s.C4, 1, lanes(size, dsp).columns)


def in_turn(s: allo.Schedule, size: str, dsp: int) -> None:
    """Both stages in one function; the last row is kept in `sum`, some elements in each cycle."""
    columns = lanes(size, dsp).columns
    for stage in ("product", "write_back"):
        s.inline(stage)
    if columns < SIZES[size][2]:
        s.pipeline(s.split("p2", columns)[0])
    else:
        s.unroll("p2")
    in_banks(s, s.sum, columns)


def within(dsp: int) -> Design:
    """The fastest design with this many DSPs."""
    parts = (
        Part(partial(product, dsp=dsp), partial(row_wise, dsp=dsp)),
        Part(partial(write_back, dsp=dsp), partial(by_tiles, dsp=dsp)),
    )
    return Design(partial(stages, dsp=dsp), partial(in_turn, dsp=dsp), dsp, parts=parts)


def copy(size: str, T: AlloType = float32) -> Callable[..., None]:
    """A as it is at first: stages that run at the same time cannot read and write one array."""
    NQ, NR, NP = SIZES[size]

    def copy(A: T[NR, NQ, NP], old: T[NR, NQ, NP]):
        for r, q, p in allo.grid(NR, NQ, NP):
            old[r, q, p] = A[r, q, p]

    return copy


def rows_at_once(s: allo.Schedule, size: str) -> None:
    """A row in each cycle."""
    s.pipeline("q")
    for buffer in (s.A, s.old):
        s.partition(buffer, dim=3)


def products_in_order(size: str, T: AlloType = float32) -> Callable[..., None]:
    """The products of all A[r] with C4, by rows."""
    NQ, NR, NP = SIZES[size]

    def multiply(r: index, old: T[NR, NQ, NP], C4: T[NP, NP], sums: T[NQ, NP]):
        for q, p in allo.grid(NQ, NP):
            sums[q, p] = 0.0
            for s in range(NP):
                sums[q, p] += old[r, q, s] * C4[s, p]

    def products(old: T[NR, NQ, NP], C4: T[NP, NP], new: T[NR, NQ, NP]):
        for r in range(NR):
            sums: T[NQ, NP]
            multiply(r, old, C4, sums)
            for q1, p1 in allo.grid(NQ, NP):
                new[r, q1, p1] = sums[q1, p1]

    return products


def matrix_by_matrix(s: allo.Schedule, size: str) -> None:
    """The sums of the rows of an A[r] take turns, while those of the one before leave."""
    s.reorder("multiply:s", "multiply:q", "multiply:p")
    for loop in ("multiply:S_q_p_0_1.q", "multiply:S_q_p_0.q", "q1"):
        s.pipeline(loop)
    for buffer, dim in (("multiply:C4", 2), ("multiply:sums", 2), ("products:new", 3)):
        s.partition(buffer, dim=dim)
    s.dataflow("r")


def store(size: str, T: AlloType = float32) -> Callable[..., None]:
    """The products in the place of A."""
    NQ, NR, NP = SIZES[size]

    def store(new: T[NR, NQ, NP], A: T[NR, NQ, NP]):
        for r, q, p in allo.grid(NR, NQ, NP):
            A[r, q, p] = new[r, q, p]

    return store


def whole_rows(s: allo.Schedule, size: str) -> None:
    """A row in each cycle."""
    s.pipeline("q")
    for buffer in (s.new, s.A):
        s.partition(buffer, dim=3)


def streamed_stages(size: str, T: AlloType = float32) -> Callable[..., None]:
    """The same from a copy of A, with rows that go from the product to their place."""
    NQ, NR, NP = SIZES[size]
    copy_rows, multiply, keep = (part.kernel(size, T) for part in STREAMS)

    def replace(old: T[NR, NQ, NP], C4: T[NP, NP], A: T[NR, NQ, NP]):
        new: T[NR, NQ, NP]
        multiply(old, C4, new)
        keep(new, A)

    def doitgen(A: T[NR, NQ, NP], C4: T[NP, NP], sum: T[NP]):
        old: T[NR, NQ, NP]
        copy_rows(A, old)
        replace(old, C4, A)
        for p2 in range(NP):
            sum[p2] = A[NR - 1, NQ - 1, p2]

    return doitgen


def streamed(s: allo.Schedule, size: str) -> None:
    """Rows are stored while the next ones are computed."""
    s.relay("replace:new", "store", depth=2)
    s.dataflow("replace")
    s.pipeline("p2")


STREAMS = (Part(copy, rows_at_once), Part(products_in_order, matrix_by_matrix), Part(store, whole_rows))
DESIGNS = {
    "vanilla": Design(kernel),
    "best": within(DEVICE),
    "streams": Design(streamed_stages, streamed, dsp=300, parts=STREAMS),
}


def arguments(size: str, T: AlloType = float32) -> tuple[Any, ...]:
    """A, C4, sum as PolyBench initialises them."""
    nq, nr, np_ = SIZES[size]
    r, q, p = np.ogrid[:nr, :nq, :np_]
    row, column = np.ogrid[:np_, :np_]
    A = T[nr, nq, np_]((r * q + p) % np_ / np_)
    return A, T[np_, np_](row * column % np_ / np_), T[np_](0)


def reference(size: str, A: Any, C4: Any, sum: Any) -> None:
    """The kernel in NumPy."""
    A[...] = A @ C4
    sum[...] = A[-1, -1]


BENCHMARK = Benchmark("doitgen", ("NQ", "NR", "NP"), SIZES, kernel, arguments, reference, DESIGNS)
