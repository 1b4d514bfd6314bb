"""ludcmp: A x = b by way of A = L U, L y = b and U x = y; L and U replace A."""

# ruff: noqa: F821 - kernels declare arrays without a value

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import allo
from allo.ir.types import AlloType, float32

from .benchmark import DEVICE, Benchmark, Design, Part
from .elimination import by_tiles, by_tiles_in_order, elimination, elimination_in_order
from .lanes import DSP_LANE, in_banks, tree_tile, turns
from .positive_definite import lu_factors, positive_definite

type Tiles = Callable[[str], tuple[int, int]]

SIZES = {"MINI": (40,), "SMALL": (120,), "MEDIUM": (400,), "LARGE": (2000,), "EXTRALARGE": (4000,)}


def kernel(size: str, T: AlloType = float32) -> Callable[..., None]:
    """The kernel for A of N x N."""
    (N,) = SIZES[size]

    def factorise(A: T[N, N]):
        for i in range(N):
            for j in range(i):
                w: T = A[i, j]
                for k in range(j):
                    w -= A[i, k] * A[k, j]
                A[i, j] = w / A[j, j]
            for j1 in range(i, N):
                w1: T = A[i, j1]
                for k1 in range(i):
                    w1 -= A[i, k1] * A[k1, j1]
                A[i, j1] = w1

    def forward(A: T[N, N], b: T[N], y: T[N]):
        for i in range(N):
            w: T = b[i]
            for j in range(i):
                w -= A[i, j] * y[j]
            y[i] = w

    def backward(A: T[N, N], x: T[N], y: T[N]):
        for i in range(N - 1, -1, -1):
            w: T = y[i]
            for j in range(i + 1, N):
                w -= A[i, j] * x[j]
            x[i] = w / A[i, i]

    def ludcmp(A: T[N, N], b: T[N], x: T[N], y: T[N]):
        factorise(A)
        forward(A, b, y)
        backward(A, x, y)

    return ludcmp


def lanes(size: str) -> tuple[int, int]:
    """The rows and columns of the tiles of A that change in each cycle."""
    (N,) = SIZES[size]
    return tree_tile(N, N, DEVICE - DSP_LANE * 2 * (N // turns(N)))


def shared_lanes(size: str, dsp: int) -> tuple[int, int]:
    """As many as there are DSPs for if all stages share them."""
    (N,) = SIZES[size]
    return tree_tile(N, N, dsp)


stream_lanes = partial(shared_lanes, dsp=1000)


def eliminate(size: str, T: AlloType = float32, lanes: Tiles = lanes) -> Callable[..., None]:
    """L and U by steps."""
    (N,) = SIZES[size]
    return elimination(N, *lanes(size), T)


def forward(size: str, T: AlloType = float32, lanes: Tiles = lanes) -> Callable[..., None]:
    """L y = b: each element of y is taken from all equations as soon as it is known."""
    (N,) = SIZES[size]
    R, _ = lanes(size)

    def forward(A: T[N, N], b: T[N], y: T[N]):
        for i0 in range(N):
            y[i0] = b[i0]
        for j in range(N):
            known: T = y[j]
            for io in range((j + 1) // R, N // R):
                for ii in range(R):
                    if R * io + ii > j:
                        y[R * io + ii] -= A[R * io + ii, j] * known

    return forward


def backward(size: str, T: AlloType = float32, lanes: Tiles = lanes) -> Callable[..., None]:
    """U x = y, in the same way."""
    (N,) = SIZES[size]
    R, _ = lanes(size)

    def backward(A: T[N, N], y: T[N], x: T[N]):
        for i0 in range(N):
            x[i0] = y[i0]
        for back in range(N):
            known: T = x[N - 1 - back] / A[N - 1 - back, N - 1 - back]
            x[N - 1 - back] = known
            for io in range((N - 1 - back + R - 1) // R):
                for ii in range(R):
                    if R * io + ii < N - 1 - back:
                        x[R * io + ii] -= A[R * io + ii, N - 1 - back] * known

    return backward


def stages(size: str, T: AlloType = float32, lanes: Tiles = lanes) -> Callable[..., None]:
    """The same with elimination by steps, and equations that lose each element as soon as it is known."""
    (N,) = SIZES[size]
    factorise, solve_lower, solve_upper = (nest(size, T, lanes) for nest in (eliminate, forward, backward))

    def ludcmp(A: T[N, N], b: T[N], x: T[N], y: T[N]):
        factorise(A)
        solve_lower(A, b, y)
        solve_upper(A, y, x)

    return ludcmp


def by_columns(s: allo.Schedule, size: str, lanes: Tiles, vectors: tuple[str, str]) -> None:
    """R elements in each cycle."""
    R, _ = lanes(size)
    s.pipeline(s.split("i0", R)[0])
    s.pipeline("io")
    for vector in vectors:
        in_banks(s, s.buffers[vector], R)


def parts(lanes: Tiles) -> tuple[Part, ...]:
    """The stages with these lanes."""
    return (
        Part(partial(eliminate, lanes=lanes), partial(by_tiles, tile=lanes)),
        Part(partial(forward, lanes=lanes), partial(by_columns, lanes=lanes, vectors=("b", "y"))),
        Part(partial(backward, lanes=lanes), partial(by_columns, lanes=lanes, vectors=("y", "x"))),
    )


def in_turn(s: allo.Schedule, size: str) -> None:
    """All stages in one function, so that they share multipliers and adders."""
    for stage in ("eliminate", "forward", "backward"):
        s.inline(stage)


def within(dsp: int) -> Design:
    """The fastest design with this many DSPs, fewer than the best one has."""
    choice = partial(shared_lanes, dsp=dsp)
    return Design(partial(stages, lanes=choice), in_turn, dsp, reassociated=True, parts=parts(choice))


def eliminate_in_order(size: str, T: AlloType = float32) -> Callable[..., None]:
    """L and U by steps; the columns of L go to the equations."""
    (N,) = SIZES[size]
    return elimination_in_order(N, *stream_lanes(size), T)


def forward_in_order(size: str, T: AlloType = float32) -> Callable[..., None]:
    """L y = b, by columns of L as they come."""
    (N,) = SIZES[size]
    R, _ = stream_lanes(size)

    def forward(lower: T[N, N // R, R], b: T[N], y: T[N]):
        for i0 in range(N):
            y[i0] = b[i0]
        for j in range(N):
            known: T = y[j]
            for io in range((j + 1) // R, N // R):
                for ii in range(R):
                    if R * io + ii > j:
                        y[R * io + ii] -= lower[j, io, ii] * known

    return forward


def forward_by_columns(s: allo.Schedule, size: str) -> None:
    """R elements in each cycle."""
    by_columns(s, size, stream_lanes, ("b", "y"))
    s.partition(s.lower, dim=3)


def streamed_stages(size: str, T: AlloType = float32) -> Callable[..., None]:
    """The same; the first equations lose each column of L as soon as it is known, the second need the last row of U."""
    (N,) = SIZES[size]
    R, _ = stream_lanes(size)
    factorise, solve_lower, solve_upper = (part.kernel(size, T) for part in STREAMS)

    def factorise_and_solve(A: T[N, N], b: T[N], y: T[N]):
        lower: T[N, N // R, R]
        factorise(A, lower)
        solve_lower(lower, b, y)

    def ludcmp(A: T[N, N], b: T[N], x: T[N], y: T[N]):
        factorise_and_solve(A, b, y)
        solve_upper(A, y, x)

    return ludcmp


def streamed(s: allo.Schedule, size: str) -> None:
    """The first equations are solved while A is factorised."""
    s.relay("factorise_and_solve:lower", "forward", depth=max(SIZES[size]) // stream_lanes(size)[0])
    s.dataflow("factorise_and_solve")


STREAMS = (
    Part(eliminate_in_order, partial(by_tiles_in_order, tile=stream_lanes)),
    Part(forward_in_order, forward_by_columns),
    Part(partial(backward, lanes=stream_lanes), partial(by_columns, lanes=stream_lanes, vectors=("y", "x"))),
)
DESIGNS = {
    "vanilla": Design(kernel),
    "best": Design(stages, reassociated=True, parts=parts(lanes)),
    "streams": Design(streamed_stages, streamed, dsp=1100, reassociated=True, parts=STREAMS),
}


def arguments(size: str, T: AlloType = float32) -> tuple[Any, ...]:
    """A, b, x, y as PolyBench initialises them."""
    (n,) = SIZES[size]
    b = T[n]((np.arange(n) + 1) / n / 2 + 4)
    return positive_definite(n, T), b, T[n](0), T[n](0)


def reference(size: str, A: Any, b: Any, x: Any, y: Any) -> None:
    """The kernel in NumPy."""
    lower, upper = lu_factors(A)
    x[...] = np.linalg.solve(A.astype(np.float64), b)
    y[...] = np.linalg.solve(lower, b)
    A[...] = np.tril(lower, -1) + upper


BENCHMARK = Benchmark("ludcmp", ("N",), SIZES, kernel, arguments, reference, DESIGNS)
