"""cholesky: A = L L^T; L replaces the lower triangle of A."""

from collections.abc import Callable
from typing import Any

import numpy as np

import allo
from allo.ir.types import AlloType, float32

from .benchmark import Benchmark
from .positive_definite import cholesky_factor, positive_definite

SIZES = {"MINI": (40,), "SMALL": (120,), "MEDIUM": (400,), "LARGE": (2000,), "EXTRALARGE": (4000,)}


def kernel(size: str, T: AlloType = float32) -> Callable[..., None]:
    """The kernel for A of N x N."""
    (N,) = SIZES[size]

    def cholesky(A: T[N, N]):
        for i in range(N):
            for j in range(i):
                for k in range(j):
                    A[i, j] -= A[i, k] * A[j, k]
                A[i, j] /= A[j, j]
            for k1 in range(i):
                A[i, i] -= A[i, k1] * A[i, k1]
            A[i, i] = allo.sqrt(A[i, i])

    return cholesky


def arguments(size: str, T: AlloType = float32) -> tuple[Any, ...]:
    """A as PolyBench initialises it."""
    (n,) = SIZES[size]
    return (positive_definite(n, T),)


def reference(size: str, A: Any) -> None:
    """The kernel in NumPy."""
    A[...] = cholesky_factor(A) + np.triu(A, 1)


BENCHMARK = Benchmark("cholesky", ("N",), SIZES, kernel, arguments, reference)
