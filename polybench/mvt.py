"""mvt: x1 += A y1 and x2 += A^T y2."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from allo.ir.types import float32

from .benchmark import Benchmark

SIZES = {"MINI": (40,), "SMALL": (120,), "MEDIUM": (400,), "LARGE": (2000,), "EXTRALARGE": (4000,)}


def kernel(size: str) -> Callable[..., None]:
    """The kernel for A of N x N."""
    (N,) = SIZES[size]

    def mvt(x1: float32[N], x2: float32[N], y1: float32[N], y2: float32[N], A: float32[N, N]):
        for i in range(N):
            for j in range(N):
                x1[i] += A[i, j] * y1[j]
        for i in range(N):
            for j in range(N):
                x2[i] += A[j, i] * y2[j]

    return mvt


def arguments(size: str) -> tuple[Any, ...]:
    """x1, x2, y1, y2, A as PolyBench initialises them."""
    (n,) = SIZES[size]
    position = np.arange(n)
    vectors = [((position + shift) % n / n).astype(np.float32) for shift in (0, 1, 3, 4)]
    row, column = np.ogrid[:n, :n]
    return *vectors, (row * column % n / n).astype(np.float32)


def reference(size: str, x1: Any, x2: Any, y1: Any, y2: Any, A: Any) -> None:
    """The kernel in NumPy."""
    x1 += A @ y1
    x2 += y2 @ A


BENCHMARK = Benchmark("mvt", ("N",), SIZES, kernel, arguments, reference)
