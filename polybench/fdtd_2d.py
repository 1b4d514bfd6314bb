"""fdtd-2d: an electromagnetic field in two dimensions by finite differences in the time domain."""

# ruff: noqa: F821 - kernels declare arrays without a value

from collections.abc import Callable
from typing import Any

import numpy as np

import allo
from allo.ir.types import AlloType, float32

from .benchmark import Benchmark, Design

SIZES = {
    "MINI": (20, 20, 30),
    "SMALL": (40, 60, 80),
    "MEDIUM": (100, 200, 240),
    "LARGE": (500, 1000, 1200),
    "EXTRALARGE": (1000, 2000, 2600),
}


def kernel(size: str, T: AlloType = float32) -> Callable[..., None]:
    """The kernel for fields of NX x NY; fict is what enters at the edge in each step."""
    TMAX, NX, NY = SIZES[size]

    def enter(value: T, ey: T[NX, NY]):
        for j in range(NY):
            ey[0, j] = value

    def update_ey(ey: T[NX, NY], hz: T[NX, NY]):
        for i in range(1, NX):
            for j in range(NY):
                ey[i, j] = ey[i, j] - 0.5 * (hz[i, j] - hz[i - 1, j])

    def update_ex(ex: T[NX, NY], hz: T[NX, NY]):
        for i in range(NX):
            for j in range(1, NY):
                ex[i, j] = ex[i, j] - 0.5 * (hz[i, j] - hz[i, j - 1])

    def update_hz(ex: T[NX, NY], ey: T[NX, NY], hz: T[NX, NY]):
        for i in range(NX - 1):
            for j in range(NY - 1):
                hz[i, j] = hz[i, j] - 0.7 * (ex[i, j + 1] - ex[i, j] + ey[i + 1, j] - ey[i, j])

    def fdtd_2d(ex: T[NX, NY], ey: T[NX, NY], hz: T[NX, NY], fict: T[TMAX]):
        for t in range(TMAX):
            enter(fict[t], ey)
            update_ey(ey, hz)
            update_ex(ex, hz)
            update_hz(ex, ey, hz)

    return fdtd_2d


def stages(size: str, T: AlloType = float32) -> Callable[..., None]:
    """The same with all three fields in one pass: row i of the electric field, then row i - 1 of the magnetic one."""
    TMAX, NX, NY = SIZES[size]

    def fdtd_2d(ex: T[NX, NY], ey: T[NX, NY], hz: T[NX, NY], fict: T[TMAX]):
        for t in range(TMAX):
            ex_above: T[NY]
            ey_above: T[NY]
            hz_above: T[NY]
            for i in range(NX):
                ex_row: T[NY]
                ey_row: T[NY]
                hz_row: T[NY]
                for j in range(NY):
                    hz_row[j] = hz[i, j]
                    ey_row[j] = fict[t] if i == 0 else ey[i, j] - 0.5 * (hz_row[j] - hz_above[j])
                    ey[i, j] = ey_row[j]
                ex_row[0] = ex[i, 0]
                for j1 in range(1, NY):
                    ex_row[j1] = ex[i, j1] - 0.5 * (hz_row[j1] - hz_row[j1 - 1])
                    ex[i, j1] = ex_row[j1]
                if i > 0:
                    for j2 in range(NY - 1):
                        curl: T = ex_above[j2 + 1] - ex_above[j2] + ey_row[j2] - ey_above[j2]
                        hz[i - 1, j2] = hz_above[j2] - 0.7 * curl
                for j3 in range(NY):
                    ex_above[j3] = ex_row[j3]
                    ey_above[j3] = ey_row[j3]
                    hz_above[j3] = hz_row[j3]

    return fdtd_2d


def row_wise(s: allo.Schedule, size: str) -> None:
    """A row of each field in each cycle."""
    s.pipeline("i")
    for array in (s.ex, s.ey, s.hz):
        s.partition(array, dim=2)
    for row in ("ex_row", "ey_row", "hz_row", "ex_above", "ey_above", "hz_above"):
        s.partition(f"fdtd_2d:{row}")


DESIGNS = {"vanilla": Design(kernel), "best": Design(stages, row_wise)}


def arguments(size: str, T: AlloType = float32) -> tuple[Any, ...]:
    """ex, ey, hz, fict as PolyBench initialises them."""
    tmax, nx, ny = SIZES[size]
    row, column = np.ogrid[:nx, :ny]
    ex = T[nx, ny](row * (column + 1) / nx)
    ey = T[nx, ny](row * (column + 2) / ny)
    hz = T[nx, ny](row * (column + 3) / nx)
    return ex, ey, hz, T[tmax](np.arange(tmax))


def reference(size: str, ex: Any, ey: Any, hz: Any, fict: Any) -> None:
    """The kernel in NumPy."""
    for value in fict:
        ey[0] = value
        ey[1:] -= 0.5 * np.diff(hz, axis=0)
        ex[:, 1:] -= 0.5 * np.diff(hz, axis=1)
        hz[:-1, :-1] -= 0.7 * (np.diff(ex, axis=1)[:-1] + np.diff(ey, axis=0)[:, :-1])


BENCHMARK = Benchmark("fdtd_2d", ("TMAX", "NX", "NY"), SIZES, kernel, arguments, reference, DESIGNS)
