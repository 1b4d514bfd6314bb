"""seidel-2d: the mean of nine neighbours in place, TSTEPS times."""

# ruff: noqa: F821 - kernels declare arrays without a value

from collections.abc import Callable
from typing import Any

import numpy as np

import allo
from allo.ir.types import AlloType, float32

from .benchmark import Benchmark, Design
from .lanes import divisor, in_banks

SIZES = {
    "MINI": (20, 40),
    "SMALL": (40, 120),
    "MEDIUM": (100, 400),
    "LARGE": (500, 2000),
    "EXTRALARGE": (1000, 4000),
}
TAPS = 9.0 ** -np.arange(1, 20)  # what a value still weighs 0, 1, 2, ... columns further right
DIVISION_TURNS = 25  # cycles from reading a point to storing the next: a sum and a division


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


def stages(size: str, T: AlloType = float32) -> Callable[..., None]:
    """The same with all time steps under way, each two rows behind the one before, so that they take turns.

    Step t is in row i = start - 2 t. Its registers are the points around the point before the last that was read: old
    ones on its right and below, from step t - 1, and new ones above and on its left. The left one is added last.
    """
    TSTEPS, N = SIZES[size]

    def seidel_2d(A: T[N, N]):
        passed: T[TSTEPS + 1, N]  # row i + 1 from step t - 1
        middle: T[TSTEPS, N]  # row i from step t - 1
        above: T[TSTEPS, N]  # row i - 1 from step t
        north_west: T[TSTEPS]
        north: T[TSTEPS]
        here: T[TSTEPS]
        west: T[TSTEPS]
        south_west: T[TSTEPS]
        south: T[TSTEPS]
        for start in range(-1, N + 2 * TSTEPS - 2):
            for j0 in range(N):
                if start + 1 < N:
                    passed[0, j0] = A[start + 1, j0]
            for right in range(N + 1):
                for t in range(TSTEPS):
                    north_east: T = 0.0
                    east: T = 0.0
                    south_east: T = 0.0
                    if right < N:
                        north_east = above[t, right]
                        east = middle[t, right]
                        south_east = passed[t, right]
                        middle[t, right] = south_east
                    centre: T = here[t]
                    upper: T = north_west[t] + north[t] + north_east + centre + east
                    mean: T = (upper + south_west[t] + south[t] + south_east + west[t]) / 9.0
                    point: T = centre
                    if start - 2 * t > 0 and start - 2 * t < N - 1 and right > 1 and right < N:
                        point = mean
                    if right > 0:
                        above[t, right - 1] = point
                        passed[t + 1, right - 1] = point
                    west[t] = point
                    north_west[t] = north[t]
                    north[t] = north_east
                    here[t] = east
                    south_west[t] = south[t]
                    south[t] = south_east
            for j1 in range(N):
                if start - 2 * TSTEPS + 2 >= 0:
                    A[start - 2 * TSTEPS + 2, j1] = passed[TSTEPS, j1]

    return seidel_2d


def in_turns(s: allo.Schedule, size: str) -> None:
    """Some time steps in each cycle, as many as let a division end before its quotient is the point on the left."""
    TSTEPS, N = SIZES[size]
    lanes, columns = divisor(TSTEPS, max(1, TSTEPS // DIVISION_TURNS)), divisor(N, 10)
    s.pipeline(s.split("t", lanes)[0])
    for loop in ("j0", "j1"):
        s.pipeline(s.split(loop, columns)[0])
    in_banks(s, s.A, 1, columns)
    in_banks(s, s.passed, lanes, columns)
    for state in ("middle", "above", "north_west", "north", "here", "west", "south_west", "south"):
        in_banks(s, f"seidel_2d:{state}", lanes)


DESIGNS = {"vanilla": Design(kernel), "best": Design(stages, in_turns, reassociated=True)}


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


BENCHMARK = Benchmark("seidel_2d", ("TSTEPS", "N"), SIZES, kernel, arguments, reference, DESIGNS)
