"""trisolv: L x = b for a lower triangular L."""

from collections.abc import Callable
from typing import Any

import numpy as np

import allo
from allo.ir.types import AlloType, float32

from .benchmark import Benchmark, Design
from .lanes import divisor, in_banks, turns

SIZES = {"MINI": (40,), "SMALL": (120,), "MEDIUM": (400,), "LARGE": (2000,), "EXTRALARGE": (4000,)}


def kernel(size: str, T: AlloType = float32) -> Callable[..., None]:
    """The kernel for L of N x N."""
    (N,) = SIZES[size]

    def trisolv(L: T[N, N], x: T[N], b: T[N]):
        for i in range(N):
            x[i] = b[i]
            for j in range(i):
                x[i] -= L[i, j] * x[j]
            x[i] = x[i] / L[i, i]

    return trisolv


def lanes(size: str) -> int:
    """The equations in each cycle."""
    (N,) = SIZES[size]
    return divisor(N, N // turns(N))


def stages(size: str, T: AlloType = float32) -> Callable[..., None]:
    """The same by columns of L: each x[j] is taken from all equations as soon as it is known."""
    (N,) = SIZES[size]
    R = lanes(size)

    def trisolv(L: T[N, N], x: T[N], b: T[N]):
        for i0 in range(N):
            x[i0] = b[i0]
        for j in range(N):
            known: T = x[j] / L[j, j]
            x[j] = known
            for io in range((j + 1) // R, N // R):
                for ii in range(R):
                    if R * io + ii > j:
                        x[R * io + ii] -= L[R * io + ii, j] * known

    return trisolv


def by_columns(s: allo.Schedule, size: str) -> None:
    """R equations in each cycle."""
    R = lanes(size)
    s.pipeline(s.split("i0", R)[0])
    s.pipeline("io")
    for array in (s.L, s.x, s.b):
        in_banks(s, array, R)


DESIGNS = {"vanilla": Design(kernel), "best": Design(stages, by_columns)}


def arguments(size: str, T: AlloType = float32) -> tuple[Any, ...]:
    """L, x, b as PolyBench initialises them."""
    (n,) = SIZES[size]
    row, column = np.ogrid[:n, :n]
    L = T[n, n](np.tril((row + n - column + 1) * 2 / n))
    return L, T[n](-999), T[n](np.arange(n))


def reference(size: str, L: Any, x: Any, b: Any) -> None:
    """The kernel in NumPy."""
    x[...] = np.linalg.solve(L.astype(np.float64), b)


BENCHMARK = Benchmark("trisolv", ("N",), SIZES, kernel, arguments, reference, DESIGNS)
