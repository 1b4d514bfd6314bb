"""gramschmidt: A = Q R by the modified Gram-Schmidt process; each column of A loses its parts along earlier ones."""

from collections.abc import Callable
from typing import Any

import numpy as np

import allo
from allo.ir.types import AlloType, float32

from .benchmark import Benchmark

SIZES = {
    "MINI": (20, 30),
    "SMALL": (60, 80),
    "MEDIUM": (200, 240),
    "LARGE": (1000, 1200),
    "EXTRALARGE": (2000, 2600),
}


def kernel(size: str, T: AlloType = float32) -> Callable[..., None]:
    """The kernel for A and Q of M x N, R of N x N."""
    M, N = SIZES[size]

    def gramschmidt(A: T[M, N], R: T[N, N], Q: T[M, N]):
        for k in range(N):
            nrm: T = 0.0
            for i in range(M):
                nrm += A[i, k] * A[i, k]
            R[k, k] = allo.sqrt(nrm)
            for i1 in range(M):
                Q[i1, k] = A[i1, k] / R[k, k]
            for j in range(k + 1, N):
                R[k, j] = 0.0
                for i2 in range(M):
                    R[k, j] += Q[i2, k] * A[i2, j]
                for i3 in range(M):
                    A[i3, j] -= Q[i3, k] * R[k, j]

    return gramschmidt


def arguments(size: str, T: AlloType = float32) -> tuple[Any, ...]:
    """A, R, Q as PolyBench initialises them: A has more columns than rows, and depends on rounding behind its rank."""
    m, n = SIZES[size]
    row, column = np.ogrid[:m, :n]
    return T[m, n](row * column % m / m * 100 + 10), T[n, n](0), T[m, n](0)


def reference(size: str, A: Any, R: Any, Q: Any) -> None:
    """The kernel in NumPy, one column at a time."""
    for k in range(A.shape[1]):
        R[k, k] = np.linalg.norm(A[:, k])
        Q[:, k] = A[:, k] / R[k, k]
        R[k, k + 1 :] = Q[:, k] @ A[:, k + 1 :]
        A[:, k + 1 :] -= np.outer(Q[:, k], R[k, k + 1 :])


BENCHMARK = Benchmark("gramschmidt", ("M", "N"), SIZES, kernel, arguments, reference)
