"""atax: y = A^T (A x)."""

# ruff: noqa: F821 - kernels declare arrays without a value

from collections.abc import Callable
from typing import Any

import numpy as np

import allo
from allo.ir.types import AlloType, float32

from .benchmark import Benchmark, Design, divisor

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


def stages(size: str, T: AlloType = float32) -> Callable[..., None]:
    """The same in two stages, A x and A^T of it, which pass on the elements of A x one by one."""
    M, N = SIZES[size]

    def rows(A: T[M, N], x: T[N], sums: T[M]):
        for i in range(M):
            sums[i] = 0.0
            for j in range(N):
                sums[i] += A[i, j] * x[j]

    def columns(A: T[M, N], sums: T[M], y: T[N], tmp: T[M]):
        for j0 in range(N):
            y[j0] = 0.0
        for i in range(M):
            tmp[i] = sums[i]
            for j in range(N):
                y[j] += A[i, j] * tmp[i]

    def atax(A: T[M, N], x: T[N], y: T[N], tmp: T[M]):
        sums: T[M]
        rows(A, x, sums)
        columns(A, sums, y, tmp)

    return atax


def best(s: allo.Schedule, size: str) -> None:
    """Both stages at once, with up to 41 products a cycle each; sums of several rows take turns."""
    turns, lanes = (divisor(extent, most) for extent, most in zip(SIZES[size], (10, 41), strict=True))
    (i, turn), (j, lane) = s.split("rows:i", turns), s.split("rows:j", lanes)
    s.reorder(i, j, turn, lane)
    s.buffer_at("rows:sums", i)
    s.pipeline(turn)
    s.pipeline(s.split("columns:j", lanes)[0])
    s.relay(s.sums, "columns", depth=turns)
    for buffer, dim in ((s.A, 2), (s.x, 1), (s.y, 1)):
        s.partition(buffer, dim=dim, factor=lanes)
    s.dataflow("atax")


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


BENCHMARK = Benchmark("atax", ("M", "N"), SIZES, kernel, arguments, reference, {"best": Design(stages, best)})
