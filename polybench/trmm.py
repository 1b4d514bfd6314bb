"""trmm: B = alpha A^T B for a lower triangular A with a diagonal of ones."""

# ruff: noqa: F821 - kernels declare arrays without a value

from collections.abc import Callable
from typing import Any

import numpy as np

import allo
from allo.ir.types import AlloType, float32

from .benchmark import Benchmark, Design, divisor

SIZES = {
    "MINI": (20, 30),
    "SMALL": (60, 80),
    "MEDIUM": (200, 240),
    "LARGE": (1000, 1200),
    "EXTRALARGE": (2000, 2600),
}


def kernel(size: str, T: AlloType = float32) -> Callable[..., None]:
    """The kernel for A of M x M, B of M x N."""
    M, N = SIZES[size]

    def trmm(alpha: T, A: T[M, M], B: T[M, N]):
        for i in range(M):
            for j in range(N):
                for k in range(i + 1, M):
                    B[i, j] += A[k, i] * B[k, j]
                B[i, j] = alpha * B[i, j]

    return trmm


def stages(size: str, T: AlloType = float32) -> Callable[..., None]:
    """The same in two stages: the triangular product, and its multiple."""
    M, N = SIZES[size]

    def product(A: T[M, M], B: T[M, N], S: T[M, N]):
        for i in range(M):
            for j in range(N):
                S[i, j] = B[i, j]
                for k in range(i + 1, M):
                    S[i, j] += A[k, i] * B[k, j]

    def scale(alpha: T, S: T[M, N], B: T[M, N]):
        for i, j in allo.grid(M, N):
            B[i, j] = alpha * S[i, j]

    def trmm(alpha: T, A: T[M, M], B: T[M, N]):
        S: T[M, N]
        product(A, B, S)
        scale(alpha, S, B)

    return trmm


def best(s: allo.Schedule, size: str) -> None:
    """A row-wise product with up to 20 lanes; B is changed in place, so the second stage waits for the first."""
    lanes = divisor(SIZES[size][1], 20)
    s.reorder("product:k", "product:j")
    s.partition(s.buffer_at("product:S", "product:i"), dim=1, factor=lanes)
    for loop in ("j", "j_1", "j_1_back"):
        s.pipeline(s.split(f"product:{loop}", lanes)[0])
    s.pipeline(s.split("scale:j", lanes)[0])
    for buffer in (s.S, s.B):
        s.partition(buffer, dim=2, factor=lanes)


def arguments(size: str, T: AlloType = float32) -> tuple[Any, ...]:
    """alpha, A, B as PolyBench initialises them."""
    m, n = SIZES[size]
    row, column = np.ogrid[:m, :m]
    A = T[m, m](np.tril((row + column) % m / m, -1) + np.eye(m))
    row, column = np.ogrid[:m, :n]
    return 1.5, A, T[m, n]((n + row - column) % n / n)


def reference(size: str, alpha: float, A: Any, B: Any) -> None:
    """The kernel in NumPy."""
    B[...] = alpha * (A.T @ B)


BENCHMARK = Benchmark("trmm", ("M", "N"), SIZES, kernel, arguments, reference, {"best": Design(stages, best)})
