"""gemver: A += u1 v1^T + u2 v2^T, then x += beta A^T y + z, then w += alpha A x."""

# ruff: noqa: F821 - kernels declare arrays without a value

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import allo
from allo.ir.types import AlloType, float32

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


def tile(size: str) -> tuple[int, int]:
    """The rows and columns of a piece of A in the products."""
    (N,) = SIZES[size]
    return tree_tile(N, N, DEVICE)


def columns(size: str, T: AlloType = float32) -> Callable[..., None]:
    """A^T y."""
    (N,) = SIZES[size]
    return column_sums(N, N, tile(size)[0], T, fresh=True)


def rows(size: str, T: AlloType = float32) -> Callable[..., None]:
    """A x."""
    (N,) = SIZES[size]
    return row_sums(N, N, tile(size)[1], T, fresh=True)


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


def stages(size: str, T: AlloType = float32) -> Callable[..., None]:
    """The same with both products by pieces of A, before they are multiplied by alpha and beta."""
    (N,) = SIZES[size]
    change, transposed_product, add = update(size, T), columns(size, T), addition(size, T)
    product, scale_and_add = rows(size, T), scaled(size, T)

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


def by_smaller_pieces(s: allo.Schedule, size: str) -> None:
    """As many rows of a piece of A in each cycle as there are DSPs for: each element takes those of two lanes."""
    R, C = tile(size)
    R = divisor(R, DEVICE // (2 * DSP_LANE * C))
    spread(s, "i", "j", Tile(R, R, C))
    for buffer, *banks in ((s.A, R, C), (s.u1, R), (s.u2, R), (s.v1, C), (s.v2, C)):
        in_banks(s, buffer, *banks)


def in_lanes(s: allo.Schedule, size: str, vectors: tuple[str, ...]) -> None:
    """As many elements in each cycle as a piece of A has rows."""
    lanes, _ = tile(size)
    s.pipeline(s.split("i", lanes)[0])
    for vector in vectors:
        in_banks(s, s.buffers[vector], lanes)


def in_turn(s: allo.Schedule, size: str) -> None:
    """All stages in one function, so that they share multipliers and adders."""
    for stage in ("update", "columns", "addition", "rows", "scaled"):
        s.inline(stage)


PARTS = (
    Part(update, by_smaller_pieces),
    Part(columns, partial(by_pieces, sums="j", tile=tile)),
    Part(addition, partial(in_lanes, vectors=("sums", "z", "x"))),
    Part(rows, partial(by_pieces, sums="i", tile=tile)),
    Part(scaled, partial(in_lanes, vectors=("sums", "w"))),
)
DESIGNS = {"vanilla": Design(kernel), "best": Design(stages, in_turn, reassociated=True, parts=PARTS)}


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
