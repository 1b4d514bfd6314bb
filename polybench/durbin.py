"""durbin: the Yule-Walker equations T y = -r of a symmetric Toeplitz matrix T with ones on its diagonal."""

from collections.abc import Callable
from typing import Any

import numpy as np

from allo.ir.types import AlloType, float32

from .benchmark import Benchmark

SIZES = {"MINI": (40,), "SMALL": (120,), "MEDIUM": (400,), "LARGE": (2000,), "EXTRALARGE": (4000,)}


def kernel(size: str, T: AlloType = float32) -> Callable[..., None]:
    """The kernel for r of N: the first row of T is 1, r[0], ..., r[N - 2]."""
    (N,) = SIZES[size]

    def durbin(r: T[N], y: T[N]):
        z = T[N](0)
        y[0] = -r[0]
        beta: T = 1.0
        alpha: T = -r[0]
        for k in range(1, N):
            beta = (1.0 - alpha * alpha) * beta
            total: T = 0.0
            for i in range(k):
                total += r[k - i - 1] * y[i]
            alpha = -(r[k] + total) / beta
            for i1 in range(k):
                z[i1] = y[i1] + alpha * y[k - i1 - 1]
            for i2 in range(k):
                y[i2] = z[i2]
            y[k] = alpha

    return durbin


def arguments(size: str, T: AlloType = float32) -> tuple[Any, ...]:
    """r, y as PolyBench initialises them."""
    (n,) = SIZES[size]
    return T[n](n + 1 - np.arange(n)), T[n](0)


def reference(size: str, r: Any, y: Any) -> None:
    """The kernel in NumPy: the equations are solved as any others."""
    first = np.concatenate([[1.0], r[:-1]])
    row, column = np.ogrid[: len(r), : len(r)]
    y[...] = np.linalg.solve(first[np.abs(row - column)], -r.astype(np.float64))


BENCHMARK = Benchmark("durbin", ("N",), SIZES, kernel, arguments, reference)
