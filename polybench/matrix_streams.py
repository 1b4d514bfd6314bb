"""A matrix times a vector from either side in stages that FIFOs connect: C elements of a row pass in each cycle.

Each kernel here is for a matrix of M x N; a `shape` is a function from the size of a benchmark to M and N.
"""

# ruff: noqa: F821 - kernels declare arrays without a value

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Any

import allo
from allo.ir.types import AlloType, float32

from .benchmark import Part
from .lanes import TURNS, divisor, divisors, halvings, turns

type Shape = Callable[[str], tuple[int, int]]


def lanes(N: int) -> int:
    """The elements of a row that pass in each cycle, so few that the sums of all columns can take turns."""
    return divisor(N, N // turns(N))


def block(M: int) -> int:
    """The rows whose sums take turns."""
    return min((d for d in divisors(M) if d >= TURNS), default=M)


def waiting(M: int, N: int) -> int:
    """The depth of a FIFO whose elements wait for the sums of their rows: while a block is taken in, added, sent."""
    return 4 * block(M) * N // lanes(N)


def send(M: int, N: int, C: int, T: AlloType) -> Callable[..., None]:
    """The elements of A by rows: the only stage that reads them."""

    def send(A: T[M, N], sent: T[M, N // C, C]):
        for i, jo in allo.grid(M, N // C):
            for c in range(C):
                sent[i, jo, c] = A[i, C * jo + c]

    return send


def spread(M: int, N: int, C: int, T: AlloType) -> Callable[..., None]:
    """The vector on the right."""

    def spread(x: T[N], spread_x: T[N // C, C]):
        for jo in range(N // C):
            for c in range(C):
                spread_x[jo, c] = x[C * jo + c]

    return spread


def products(M: int, N: int, C: int, T: AlloType) -> Callable[..., None]:
    """The terms of A x, each a sum over C columns in a tree."""
    LEVELS = halvings(C)

    def products(A: T[M, N // C, C], x: T[N // C, C], terms: T[M, N // C]):
        kept: T[N // C, C]
        for jo0 in range(N // C):
            for c0 in range(C):
                kept[jo0, c0] = x[jo0, c0]
        for i, jo in allo.grid(M, N // C):
            p: T[C]
            for c in range(C):
                p[c] = A[i, jo, c] * kept[jo, c]
            with allo.meta_for(LEVELS) as count:
                for pair in range(count // 2):
                    p[pair] += p[pair + (count + 1) // 2]
            terms[i, jo] = p[0]

    return products


def rows(M: int, N: int, C: int, T: AlloType) -> Callable[..., None]:
    """The sums of the terms of A x: those of a block of rows take turns."""
    B = block(M)

    def rows(terms: T[M, N // C], y: T[M]):
        for b in range(M // B):
            taken: T[B, N // C]
            for i, jo in allo.grid(B, N // C):
                taken[i, jo] = terms[B * b + i, jo]
            sums: T[B]
            for j1, i1 in allo.grid(N // C, B):
                sums[i1] = taken[i1, j1] if j1 == 0 else sums[i1] + taken[i1, j1]
            for i2 in range(B):
                y[B * b + i2] = sums[i2]

    return rows


def columns(M: int, N: int, C: int, T: AlloType, fresh: bool = True) -> Callable[..., None]:
    """y = A^T x, or y += A^T x unless `fresh`: the sums of all columns take turns."""

    def columns(A: T[M, N // C, C], x: T[M], y: T[N]):
        factor: T = 0.0
        for i, jo in allo.grid(M, N // C):
            if jo == 0:
                factor = x[i]
            for c in range(C):
                term: T = A[i, jo, c] * factor
                with allo.meta_if(fresh):
                    y[C * jo + c] = term if i == 0 else y[C * jo + c] + term
                with allo.meta_else():
                    y[C * jo + c] += term

    return columns


def made(
    size: str, T: AlloType = float32, *, stage: Callable[..., Callable[..., None]], shape: Shape
) -> Callable[..., None]:
    """A stage for the matrix of that size."""
    M, N = shape(size)
    return stage(M, N, lanes(N), T)


def in_lanes(
    s: allo.Schedule,
    size: str,
    shape: Shape,
    loops: Sequence[str] = ("jo",),
    words: Mapping[str, int] = MappingProxyType({}),
    banks: Mapping[str, int] = MappingProxyType({}),
) -> None:
    """C elements in each cycle of `loops`: in these dimensions `words` have a bank for each element, `banks` C banks.

    Words become FIFOs, one for each of their banks.
    """
    for loop in loops:
        s.pipeline(loop)
    for buffer, dim in words.items():
        s.partition(s.buffers[buffer], dim=dim)
    for buffer, dim in banks.items():
        s.partition(s.buffers[buffer], dim=dim, factor=lanes(shape(size)[1]))


def by_blocks(s: allo.Schedule, size: str) -> None:
    """A block is taken in while the one before is added."""
    for loop in ("jo", "i1", "i2"):
        s.pipeline(loop)
    s.dataflow("b")


def part(kernel: Callable[..., Callable[..., None]], shape: Shape, **banks: Any) -> Part:
    """A stage for matrices of that shape, with its schedule."""
    return Part(partial(made, stage=kernel, shape=shape), partial(in_lanes, shape=shape, **banks))


def parts(shape: Shape, fresh: bool = True) -> tuple[Part, ...]:
    """All stages."""
    return (
        part(send, shape, words={"sent": 3}, banks={"A": 2}),
        part(spread, shape, words={"spread_x": 2}, banks={"x": 1}),
        part(products, shape, loops=("jo0", "jo"), words={"A": 3, "x": 2, "kept": 2, "p": 1}),
        Part(partial(made, stage=rows, shape=shape), by_blocks),
        part(partial(columns, fresh=fresh), shape, words={"A": 3}, banks={"y": 1}),
    )
