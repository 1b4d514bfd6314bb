"""gemver: A += u1 v1^T + u2 v2^T, then x += beta A^T y + z, then w += alpha A x."""

# ruff: noqa: F821 - kernels declare arrays without a value

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import allo
from allo.ir.types import AlloType, float32

from . import matrix_streams
from .benchmark import DEVICE, Benchmark, Design, Part
from .lanes import DSP_LANE, Tile, divisor, in_banks, spread, tree_tile
from .matrix_vector import by_pieces, column_sums, row_sums

SIZES = {"MINI": (40,), "SMALL": (120,), "MEDIUM": (400,), "LARGE": (2000,), "EXTRALARGE": (4000,)}


def kernel(size: str, T: AlloType = float32) -> Callable[..., None]:
    """The kernel for A of N x N."""
    (N,) = SIZES[size]

    def update(A: T[N, N], u1: T[N], v1: T[N], u2: T[N], v2: T[N]):
        for i in range(N):
            for j in range(N):
                A[i, j] = A[i, j] + u1[i] * v1[j] + u2[i] * v2[j]

    def transposed_product(beta: T, A: T[N, N], x: T[N], y: T[N]):
        for i in range(N):
            for j in range(N):
                x[i] = x[i] + beta * A[j, i] * y[j]

    def addition(x: T[N], z: T[N]):
        for i in range(N):
            x[i] = x[i] + z[i]

    def product(alpha: T, A: T[N, N], w: T[N], x: T[N]):
        for i in range(N):
            for j in range(N):
                w[i] = w[i] + alpha * A[i, j] * x[j]

    def gemver(
        alpha: T,
        beta: T,
        A: T[N, N],
        u1: T[N],
        v1: T[N],
        u2: T[N],
        v2: T[N],
        w: T[N],
        x: T[N],
        y: T[N],
        z: T[N],
    ):
        update(A, u1, v1, u2, v2)
        transposed_product(beta, A, x, y)
        addition(x, z)
        product(alpha, A, w, x)

    return gemver


def tile(size: str, dsp: int) -> tuple[int, int]:
    """The rows and columns of a piece of A in the products."""
    (N,) = SIZES[size]
    return tree_tile(N, N, dsp)


def columns(size: str, T: AlloType = float32, dsp: int = DEVICE) -> Callable[..., None]:
    """A^T y."""
    (N,) = SIZES[size]
    return column_sums(N, N, tile(size, dsp)[0], T, fresh=True)


def rows(size: str, T: AlloType = float32, dsp: int = DEVICE) -> Callable[..., None]:
    """A x."""
    (N,) = SIZES[size]
    return row_sums(N, N, tile(size, dsp)[1], T, fresh=True)


def update(size: str, T: AlloType = float32) -> Callable[..., None]:
    """A += u1 v1^T + u2 v2^T."""
    (N,) = SIZES[size]

    def update(A: T[N, N], u1: T[N], v1: T[N], u2: T[N], v2: T[N]):
        for i, j in allo.grid(N, N):
            A[i, j] = A[i, j] + u1[i] * v1[j] + u2[i] * v2[j]

    return update


def addition(size: str, T: AlloType = float32) -> Callable[..., None]:
    """x += beta sums + z."""
    (N,) = SIZES[size]

    def addition(beta: T, sums: T[N], z: T[N], x: T[N]):
        for i in range(N):
            x[i] = x[i] + beta * sums[i] + z[i]

    return addition


def scaled(size: str, T: AlloType = float32) -> Callable[..., None]:
    """w += alpha sums."""
    (N,) = SIZES[size]

    def scaled(alpha: T, sums: T[N], w: T[N]):
        for i in range(N):
            w[i] = w[i] + alpha * sums[i]

    return scaled


def stages(size: str, T: AlloType = float32, dsp: int = DEVICE) -> Callable[..., None]:
    """The same with both products by pieces of A, before they are multiplied by alpha and beta."""
    (N,) = SIZES[size]
    change, transposed_product, add = update(size, T), columns(size, T, dsp), addition(size, T)
    product, scale_and_add = rows(size, T, dsp), scaled(size, T)

    def gemver(
        alpha: T,
        beta: T,
        A: T[N, N],
        u1: T[N],
        v1: T[N],
        u2: T[N],
        v2: T[N],
        w: T[N],
        x: T[N],
        y: T[N],
        z: T[N],
    ):
        change(A, u1, v1, u2, v2)
        from_left: T[N]
        transposed_product(A, y, from_left)
        add(beta, from_left, z, x)
        from_right: T[N]
        product(A, x, from_right)
        scale_and_add(alpha, from_right, w)

    return gemver


def by_smaller_pieces(s: allo.Schedule, size: str, dsp: int) -> None:
    """As many rows of a piece of A in each cycle as there are DSPs for: each element takes those of two lanes."""
    R, C = tile(size, dsp)
    R = divisor(R, dsp // (2 * DSP_LANE * C))
    spread(s, "i", "j", Tile(R, R, C))
    for buffer, *banks in ((s.A, R, C), (s.u1, R), (s.u2, R), (s.v1, C), (s.v2, C)):
        in_banks(s, buffer, *banks)


def in_lanes(s: allo.Schedule, size: str, dsp: int, vectors: tuple[str, ...]) -> None:
    """As many elements in each cycle as a piece of A has rows."""
    lanes, _ = tile(size, dsp)
    s.pipeline(s.split("i", lanes)[0])
    for vector in vectors:
        in_banks(s, s.buffers[vector], lanes)


def in_turn(s: allo.Schedule, size: str) -> None:
    """All stages in one function, so that they share multipliers and adders."""
    for stage in ("update", "columns", "addition", "rows", "scaled"):
        s.inline(stage)


def within(dsp: int) -> Design:
    """The fastest design with this many DSPs."""
    choice = partial(tile, dsp=dsp)
    parts = (
        Part(update, partial(by_smaller_pieces, dsp=dsp)),
        Part(partial(columns, dsp=dsp), partial(by_pieces, sums="j", tile=choice)),
        Part(addition, partial(in_lanes, dsp=dsp, vectors=("sums", "z", "x"))),
        Part(partial(rows, dsp=dsp), partial(by_pieces, sums="i", tile=choice)),
        Part(scaled, partial(in_lanes, dsp=dsp, vectors=("sums", "w"))),
    )
    return Design(partial(stages, dsp=dsp), in_turn, dsp, reassociated=True, parts=parts)


def shape(size: str) -> tuple[int, int]:
    """The rows and columns of A."""
    (N,) = SIZES[size]
    return N, N


def update_and_send(size: str, T: AlloType = float32) -> Callable[..., None]:
    """A += u1 v1^T + u2 v2^T by rows, whose elements go to both products."""
    (N,) = SIZES[size]
    C = matrix_streams.lanes(N)

    def update(A: T[N, N], u1: T[N], v1: T[N], u2: T[N], v2: T[N], sent: T[N, N // C, C]):
        for i, jo in allo.grid(N, N // C):
            for c in range(C):
                element: T = A[i, C * jo + c] + u1[i] * v1[C * jo + c] + u2[i] * v2[C * jo + c]
                A[i, C * jo + c] = element
                sent[i, jo, c] = element

    return update


def add_and_send(size: str, T: AlloType = float32) -> Callable[..., None]:
    """x += beta sums + z, whose elements go to the second product."""
    (N,) = SIZES[size]
    C = matrix_streams.lanes(N)

    def addition(beta: T, sums: T[N], z: T[N], x: T[N], sent: T[N // C, C]):
        for jo in range(N // C):
            for c in range(C):
                element: T = x[C * jo + c] + beta * sums[C * jo + c] + z[C * jo + c]
                x[C * jo + c] = element
                sent[jo, c] = element

    return addition


def one_by_one(s: allo.Schedule, size: str) -> None:
    """An element in each cycle."""
    s.pipeline("i")


_, _, *STAGES = matrix_streams.parts(shape)
STREAMS = (
    *STAGES,
    Part(
        update_and_send,
        partial(matrix_streams.in_lanes, shape=shape, words={"sent": 3}, banks={"A": 2, "v1": 1, "v2": 1}),
    ),
    Part(
        add_and_send,
        partial(matrix_streams.in_lanes, shape=shape, loops=("c",), words={"sent": 2}),
    ),
    Part(scaled, one_by_one),
)


def streamed_stages(size: str, T: AlloType = float32) -> Callable[..., None]:
    """The same in stages, of which the first one sends the rows of the new A to both products."""
    (N,) = SIZES[size]
    C = matrix_streams.lanes(N)
    multiply, add, add_columns, change, change_x, scale_and_add = (part.kernel(size, T) for part in STREAMS)

    def gemver(
        alpha: T,
        beta: T,
        A: T[N, N],
        u1: T[N],
        v1: T[N],
        u2: T[N],
        v2: T[N],
        w: T[N],
        x: T[N],
        y: T[N],
        z: T[N],
    ):
        A_sent: T[N, N // C, C]
        from_left: T[N]
        x_sent: T[N // C, C]
        terms: T[N, N // C]
        from_right: T[N]
        change(A, u1, v1, u2, v2, A_sent)
        add_columns(A_sent, y, from_left)
        change_x(beta, from_left, z, x, x_sent)
        multiply(A_sent, x_sent, terms)
        add(terms, from_right)
        scale_and_add(alpha, from_right, w)

    return gemver


def streamed(s: allo.Schedule, size: str) -> None:
    """All stages at once; A waits in FIFOs for the second product, which needs all elements of x."""
    s.relay(s.A_sent, "products")
    passed = (("A_sent", "columns"), ("x_sent", "products"), ("terms", "rows"), ("from_right", "scaled"))
    for array, stage in passed:
        s.relay(s.buffers[array], stage, depth=2)
    s.dataflow("gemver")


DESIGNS = {
    "vanilla": Design(kernel),
    "best": within(DEVICE),
    "streams": Design(streamed_stages, streamed, dsp=820, reassociated=True, parts=STREAMS),
}


def arguments(size: str, T: AlloType = float32) -> tuple[Any, ...]:
    """alpha, beta, A, u1, v1, u2, v2, w, x, y, z as PolyBench initialises them."""
    (n,) = SIZES[size]
    position = np.arange(n)
    row, column = np.ogrid[:n, :n]
    A = T[n, n](row * column % n / n)
    v1, u2, v2, y, z = (T[n]((position + 1) / n / divisor) for divisor in (4, 2, 6, 8, 9))
    return 1.5, 1.2, A, T[n](position), v1, u2, v2, T[n](0), T[n](0), y, z


def reference(size: str, alpha: float, beta: float, A: Any, *vectors: Any) -> None:
    """The kernel in NumPy."""
    u1, v1, u2, v2, w, x, y, z = vectors
    A += np.outer(u1, v1) + np.outer(u2, v2)
    x += beta * (y @ A) + z
    w += alpha * (A @ x)


BENCHMARK = Benchmark("gemver", ("N",), SIZES, kernel, arguments, reference, DESIGNS)
