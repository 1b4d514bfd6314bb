"""mvt: x1 += A y1 and x2 += A^T y2."""

from collections.abc import Callable
from typing import Any

import numpy as np

from allo.ir.types import AlloType, float32

from .benchmark import Benchmark

SIZES = {"MINI": (40,), "SMALL": (120,), "MEDIUM": (400,), "LARGE": (2000,), "EXTRALARGE": (4000,)}


def kernel(size: str, T: AlloType = float32) -> Callable[..., None]:
    """The kernel for A of N x N."""
    (N,) = SIZES[size]

    def rows(x1: T[N], y1: T[N], A: T[N, N]):
        for i in range(N):
            for j in range(N):
                x1[i] += A[i, j] * y1[j]

    def columns(x2: T[N], y2: T[N], A: T[N, N]):
        for i in range(N):
            for j in range(N):
                x2[i] += A[j, i] * y2[j]

    def mvt(x1: T[N], x2: T[N], y1: T[N], y2: T[N], A: T[N, N]):
        rows(x1, y1, A)
        columns(x2, y2, A)

    return mvt


def arguments(size: str, T: AlloType = float32) -> tuple[Any, ...]:
    """x1, x2, y1, y2, A as PolyBench initialises them."""
    (n,) = SIZES[size]
    position = np.arange(n)
    vectors = [T[n]((position + shift) % n / n) for shift in (0, 1, 3, 4)]
    row, column = np.ogrid[:n, :n]
    return *vectors, T[n, n](row * column % n / n)


def reference(size: str, x1: Any, x2: Any, y1: Any, y2: Any, A: Any) -> None:
    """The kernel in NumPy."""
    x1 += A @ y1
    x2 += y2 @ A


BENCHMARK = Benchmark("mvt", ("N",), SIZES, kernel, arguments, reference)
