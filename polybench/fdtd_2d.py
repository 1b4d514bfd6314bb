"""fdtd-2d: an electromagnetic field in two dimensions by finite differences in the time domain."""

from collections.abc import Callable
from typing import Any

import numpy as np

from allo.ir.types import AlloType, float32

from .benchmark import Benchmark

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


BENCHMARK = Benchmark("fdtd_2d", ("TMAX", "NX", "NY"), SIZES, kernel, arguments, reference)
