"""jacobi-1d: the mean of three neighbours, from A to B and back, TSTEPS times."""

from collections.abc import Callable
from typing import Any

import numpy as np

import allo
from allo.ir.types import AlloType, float32

from .benchmark import DEVICE, Benchmark, Design
from .lanes import divisor, in_banks

SIZES = {
    "MINI": (20, 30),
    "SMALL": (40, 120),
    "MEDIUM": (100, 400),
    "LARGE": (500, 2000),
    "EXTRALARGE": (1000, 4000),
}
DSP_POINT = 7  # two sums and a product


def kernel(size: str, T: AlloType = float32) -> Callable[..., None]:
    """The kernel for A and B of N."""
    TSTEPS, N = SIZES[size]

    def average(X: T[N], Y: T[N]):
        for i in range(1, N - 1):
            Y[i] = 0.33333 * (X[i - 1] + X[i] + X[i + 1])

    def jacobi_1d(A: T[N], B: T[N]):
        for t in range(TSTEPS):  # noqa: B007 - the name of the loop in schedules
            average(A, B)
            average(B, A)

    return jacobi_1d


def in_pieces(s: allo.Schedule, size: str) -> None:
    """As many points in each cycle as there are DSPs for."""
    points = SIZES[size][1] - 2
    lanes = divisor(points, DEVICE // DSP_POINT)
    if lanes < points:
        s.pipeline(s.split("average:i", lanes)[0])
    else:
        s.unroll("average:i")
    for array in (s.A, s.B):
        in_banks(s, array, lanes)


DESIGNS = {"vanilla": Design(kernel), "best": Design(kernel, in_pieces)}


def arguments(size: str, T: AlloType = float32) -> tuple[Any, ...]:
    """A, B as PolyBench initialises them."""
    _, n = SIZES[size]
    return T[n]((np.arange(n) + 2) / n), T[n]((np.arange(n) + 3) / n)


def reference(size: str, A: Any, B: Any) -> None:
    """The kernel in NumPy."""
    for _ in range(SIZES[size][0]):
        B[1:-1] = np.convolve(A, [0.33333] * 3, mode="valid")
        A[1:-1] = np.convolve(B, [0.33333] * 3, mode="valid")


BENCHMARK = Benchmark("jacobi_1d", ("TSTEPS", "N"), SIZES, kernel, arguments, reference, DESIGNS)
