"""jacobi-2d: the mean of five neighbours, from A to B and back, TSTEPS times."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import allo
from allo.ir.types import AlloType, float32

from .benchmark import DEVICE, Benchmark, Design
from .lanes import divisor, in_banks

SIZES = {
    "MINI": (20, 30),
    "SMALL": (40, 90),
    "MEDIUM": (100, 250),
    "LARGE": (500, 1300),
    "EXTRALARGE": (1000, 2800),
}
DSP_POINT = 11  # four sums and a product


def kernel(size: str, T: AlloType = float32) -> Callable[..., None]:
    """The kernel for A and B of N x N."""
    TSTEPS, N = SIZES[size]

    def jacobi_2d(A: T[N, N], B: T[N, N]):
        for t in range(TSTEPS):  # noqa: B007 - the name of the loop in schedules
            for i in range(1, N - 1):
                for j in range(1, N - 1):
                    B[i, j] = 0.2 * (A[i, j] + A[i, j - 1] + A[i, j + 1] + A[i + 1, j] + A[i - 1, j])
            for p in range(1, N - 1):
                for q in range(1, N - 1):
                    A[p, q] = 0.2 * (B[p, q] + B[p, q - 1] + B[p, q + 1] + B[p + 1, q] + B[p - 1, q])

    return jacobi_2d


def row_wise(s: allo.Schedule, size: str, dsp: int) -> None:
    """Rows in each cycle: these and their neighbours in registers, and every array in one bank a column."""
    inner = SIZES[size][1] - 2
    rows = divisor(inner, max(1, min(inner // 4, dsp // (DSP_POINT * inner))))
    for array, loop in ((s.A, "i"), (s.B, "p")):
        row, _ = s.split(loop, rows)
        s.partition(s.reuse_at(array, row))
        s.pipeline(row)
        s.partition(array, dim=2)
        in_banks(s, array, rows)


def within(dsp: int) -> Design:
    """The fastest design with this many DSPs."""
    return Design(kernel, partial(row_wise, dsp=dsp), dsp)


DESIGNS = {
    "vanilla": Design(kernel),
    "best": within(DEVICE),
    "table3": within(3968),
}


def arguments(size: str, T: AlloType = float32) -> tuple[Any, ...]:
    """A, B as PolyBench initialises them."""
    _, n = SIZES[size]
    row, column = np.ogrid[:n, :n]
    return T[n, n]((row * (column + 2) + 2) / n), T[n, n]((row * (column + 3) + 3) / n)


def reference(size: str, A: Any, B: Any) -> None:
    """The kernel in NumPy."""
    for _ in range(SIZES[size][0]):
        B[1:-1, 1:-1] = _mean(A)
        A[1:-1, 1:-1] = _mean(B)


def _mean(X: Any) -> Any:
    """The mean of the five neighbours of every inner point."""
    return 0.2 * (X[1:-1, 1:-1] + X[1:-1, :-2] + X[1:-1, 2:] + X[2:, 1:-1] + X[:-2, 1:-1])


BENCHMARK = Benchmark("jacobi_2d", ("TSTEPS", "N"), SIZES, kernel, arguments, reference, DESIGNS)
