"""ludcmp: A x = b by way of A = L U, L y = b and U x = y; L and U replace A."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import allo
from allo.ir.types import AlloType, float32

from .benchmark import DEVICE, Benchmark, Design, Part
from .elimination import by_tiles, elimination
from .lanes import DSP_LANE, in_banks, tree_tile, turns
from .positive_definite import lu_factors, positive_definite

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


def eliminate(size: str, T: AlloType = float32) -> Callable[..., None]:
    """L and U by steps."""
    (N,) = SIZES[size]
    return elimination(N, *lanes(size), T)


def forward(size: str, T: AlloType = float32) -> Callable[..., None]:
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


def backward(size: str, T: AlloType = float32) -> Callable[..., None]:
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


def stages(size: str, T: AlloType = float32) -> Callable[..., None]:
    """The same with elimination by steps, and equations that lose each element as soon as it is known."""
    (N,) = SIZES[size]
    factorise, solve_lower, solve_upper = eliminate(size, T), forward(size, T), backward(size, T)

    def ludcmp(A: T[N, N], b: T[N], x: T[N], y: T[N]):
        factorise(A)
        solve_lower(A, b, y)
        solve_upper(A, y, x)

    return ludcmp


def by_columns(s: allo.Schedule, size: str, vectors: tuple[str, str]) -> None:
    """R elements in each cycle."""
    R, _ = lanes(size)
    s.pipeline(s.split("i0", R)[0])
    s.pipeline("io")
    for vector in vectors:
        in_banks(s, s.buffers[vector], R)


PARTS = (
    Part(eliminate, partial(by_tiles, tile=lanes)),
    Part(forward, partial(by_columns, vectors=("b", "y"))),
    Part(backward, partial(by_columns, vectors=("y", "x"))),
)
DESIGNS = {"vanilla": Design(kernel), "best": Design(stages, reassociated=True, parts=PARTS)}


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
