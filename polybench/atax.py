"""atax: y = A^T (A x)."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import allo
from allo.ir.types import AlloType, float32

from .benchmark import DEVICE, Benchmark, Design
from .lanes import in_banks, tree_tile
from .matrix_vector import column_sums, row_sums

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


def stages(size: str, T: AlloType = float32, dsp: int = DEVICE) -> Callable[..., None]:
    """The same in two stages, A x and A^T of it."""
    M, N = SIZES[size]
    R, C = tree_tile(M, N, dsp)
    rows, columns = row_sums(M, N, C, T, fresh=True), column_sums(M, N, R, T, fresh=True)

    def atax(A: T[M, N], x: T[N], y: T[N], tmp: T[M]):
        rows(A, x, tmp)
        columns(A, tmp, y)

    return atax


def in_turn(s: allo.Schedule, size: str, dsp: int) -> None:
    """A piece of A in each cycle, first times x, then times tmp."""
    R, C = tree_tile(*SIZES[size], dsp)
    for loop, lanes in (("rows:i", R), ("columns:j", C)):
        s.pipeline(s.split(loop, lanes)[0])
    vectors = ((s.tmp, R), (s.x, C), (s.y, C), ("rows:p", C), ("columns:q", R))
    for buffer, *banks in ((s.A, R, C), *vectors):
        in_banks(s, buffer, *banks)
    for stage in ("rows", "columns"):
        s.inline(stage)


def within(dsp: int) -> Design:
    """The fastest design with this many DSPs."""
    return Design(partial(stages, dsp=dsp), partial(in_turn, dsp=dsp), dsp, reassociated=True)


DESIGNS = {
    "vanilla": Design(kernel),
    "best": within(DEVICE),
    "dsp220": within(220),
    "table3": within(403),
    "dsp2560": within(2560),
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
