"""gemver: A += u1 v1^T + u2 v2^T, then x += beta A^T y + z, then w += alpha A x."""

from collections.abc import Callable
from math import lcm
from typing import Any

import numpy as np

import allo
from allo.ir.types import AlloType, float32

from .benchmark import DEVICE, Benchmark, Design
from .lanes import Tile, in_banks, spread, tree_tile
from .matrix_vector import column_sums, row_sums

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
    """The rows and columns of a piece of A, of which each element needs the DSPs of two lanes when A changes."""
    (N,) = SIZES[size]
    return tree_tile(N, N, DEVICE // 2)


def stages(size: str, T: AlloType = float32) -> Callable[..., None]:
    """The same with both products by pieces of A, before they are multiplied by alpha and beta."""
    (N,) = SIZES[size]
    R, C = tile(size)
    rows, columns = row_sums(N, N, C, T), column_sums(N, N, R, T)

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
        for i, j in allo.grid(N, N):
            A[i, j] = A[i, j] + u1[i] * v1[j] + u2[i] * v2[j]
        sums: T[N] = 0.0
        columns(A, y, sums)
        for i1 in range(N):
            x[i1] = x[i1] + beta * sums[i1] + z[i1]
            sums[i1] = 0.0
        rows(A, x, sums)
        for i2 in range(N):
            w[i2] = w[i2] + alpha * sums[i2]

    return gemver


def in_turn(s: allo.Schedule, size: str) -> None:
    """A piece of A in each cycle: first it changes, then it is multiplied from the left, then from the right."""
    R, C = tile(size)
    spread(s, "i", "j", Tile(R, R, C))
    for loop, lanes in (("columns:j", C), ("i1", R), ("rows:i", R), ("i2", R)):
        s.pipeline(s.split(loop, lanes)[0])
    pieces = ((s.A, R, C), ("rows:p", C), ("columns:q", R), (s.sums, lcm(R, C)), (s.x, lcm(R, C)))
    vectors = ((s.u1, R), (s.u2, R), (s.y, R), (s.z, R), (s.w, R), (s.v1, C), (s.v2, C))
    for buffer, *banks in (*pieces, *vectors):
        in_banks(s, buffer, *banks)
    for stage in ("rows", "columns"):
        s.inline(stage)


DESIGNS = {"vanilla": Design(kernel), "best": Design(stages, in_turn, reassociated=True)}


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
