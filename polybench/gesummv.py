"""gesummv: y = alpha A x + beta B x."""

from collections.abc import Callable
from typing import Any

import numpy as np

from allo.ir.types import AlloType, float32

from .benchmark import Benchmark

SIZES = {"MINI": (30,), "SMALL": (90,), "MEDIUM": (250,), "LARGE": (1300,), "EXTRALARGE": (2800,)}


def kernel(size: str, T: AlloType = float32) -> Callable[..., None]:
    """The kernel for A and B of N x N; tmp holds A x."""
    (N,) = SIZES[size]

    def gesummv(alpha: T, beta: T, A: T[N, N], B: T[N, N], tmp: T[N], x: T[N], y: T[N]):
        for i in range(N):
            tmp[i] = 0.0
            y[i] = 0.0
            for j in range(N):
                tmp[i] = A[i, j] * x[j] + tmp[i]
                y[i] = B[i, j] * x[j] + y[i]
            y[i] = alpha * tmp[i] + beta * y[i]

    return gesummv


def arguments(size: str, T: AlloType = float32) -> tuple[Any, ...]:
    """alpha, beta, A, B, tmp, x, y as PolyBench initialises them."""
    (n,) = SIZES[size]
    row, column = np.ogrid[:n, :n]
    A = T[n, n]((row * column + 1) % n / n)
    B = T[n, n]((row * column + 2) % n / n)
    return 1.5, 1.2, A, B, T[n](0), T[n](np.arange(n) / n), T[n](0)


def reference(size: str, alpha: float, beta: float, A: Any, B: Any, tmp: Any, x: Any, y: Any) -> None:
    """The kernel in NumPy."""
    tmp[...] = A @ x
    y[...] = (alpha * A + beta * B) @ x


BENCHMARK = Benchmark("gesummv", ("N",), SIZES, kernel, arguments, reference)
