"""seidel-2d: the mean of nine neighbours in place, TSTEPS times."""

from collections.abc import Callable
from typing import Any

import numpy as np

from allo.ir.types import AlloType, float32

from .benchmark import Benchmark

SIZES = {
    "MINI": (20, 40),
    "SMALL": (40, 120),
    "MEDIUM": (100, 400),
    "LARGE": (500, 2000),
    "EXTRALARGE": (1000, 4000),
}
TAPS = 9.0 ** -np.arange(1, 20)  # what a value still weighs 0, 1, 2, ... columns further right


def kernel(size: str, T: AlloType = float32) -> Callable[..., None]:
    """The kernel for A of N x N."""
    TSTEPS, N = SIZES[size]

    def seidel_2d(A: T[N, N]):
        for t in range(TSTEPS):  # noqa: B007 - the name of the loop in schedules
            for i in range(1, N - 1):
                for j in range(1, N - 1):
                    A[i, j] = (
                        A[i - 1, j - 1]
                        + A[i - 1, j]
                        + A[i - 1, j + 1]
                        + A[i, j - 1]
                        + A[i, j]
                        + A[i, j + 1]
                        + A[i + 1, j - 1]
                        + A[i + 1, j]
                        + A[i + 1, j + 1]
                    ) / 9.0

    return seidel_2d


def arguments(size: str, T: AlloType = float32) -> tuple[Any, ...]:
    """A as PolyBench initialises it."""
    _, n = SIZES[size]
    row, column = np.ogrid[:n, :n]
    return (T[n, n]((row * (column + 2) + 2) / n),)


def reference(size: str, A: Any) -> None:
    """The kernel in NumPy, in float64: the values already new in a row are a sum over all columns on their left."""
    exact = A.astype(np.float64)
    for _ in range(SIZES[size][0]):
        for i in range(1, len(A) - 1):
            others = exact[i - 1] + exact[i + 1]
            old = others[:-2] + others[1:-1] + others[2:] + exact[i, 1:-1] + exact[i, 2:]
            old[0] += exact[i, 0]
            exact[i, 1:-1] = np.convolve(old, TAPS)[: len(old)]
    A[...] = exact


BENCHMARK = Benchmark("seidel_2d", ("TSTEPS", "N"), SIZES, kernel, arguments, reference)
