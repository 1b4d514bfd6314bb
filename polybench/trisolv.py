"""trisolv: L x = b for a lower triangular L."""

from collections.abc import Callable
from typing import Any

import numpy as np

from allo.ir.types import AlloType, float32

from .benchmark import Benchmark

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


def arguments(size: str, T: AlloType = float32) -> tuple[Any, ...]:
    """L, x, b as PolyBench initialises them."""
    (n,) = SIZES[size]
    row, column = np.ogrid[:n, :n]
    L = T[n, n](np.tril((row + n - column + 1) * 2 / n))
    return L, T[n](-999), T[n](np.arange(n))


def reference(size: str, L: Any, x: Any, b: Any) -> None:
    """The kernel in NumPy."""
    x[...] = np.linalg.solve(L.astype(np.float64), b)


BENCHMARK = Benchmark("trisolv", ("N",), SIZES, kernel, arguments, reference)
