"""symm: C = alpha A B + beta C for a symmetric A of which the lower triangle is stored."""

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
    """The kernel for A of M x M, B and C of M x N."""
    M, N = SIZES[size]

    def symm(alpha: T, beta: T, C: T[M, N], A: T[M, M], B: T[M, N]):
        for i in range(M):
            for j in range(N):
                temp2: T = 0.0
                for k in range(i):
                    C[k, j] += alpha * B[i, j] * A[i, k]
                    temp2 += B[k, j] * A[i, k]
                C[i, j] = beta * C[i, j] + alpha * B[i, j] * A[i, i] + alpha * temp2

    return symm


def stages(size: str, T: AlloType = float32) -> Callable[..., None]:
    """The same in two stages: the product with the whole symmetric matrix, and the sum with beta C."""
    M, N = SIZES[size]

    def product(A: T[M, M], B: T[M, N], S: T[M, N]):
        for i, j in allo.grid(M, N):
            S[i, j] = 0.0
            for k in range(M):
                S[i, j] += (A[i, k] if k <= i else A[k, i]) * B[k, j]

    def add(alpha: T, beta: T, S: T[M, N], C: T[M, N]):
        for i, j in allo.grid(M, N):
            C[i, j] = beta * C[i, j] + alpha * S[i, j]

    def symm(alpha: T, beta: T, C: T[M, N], A: T[M, M], B: T[M, N]):
        S: T[M, N]
        product(A, B, S)
        add(alpha, beta, S, C)

    return symm


def best(s: allo.Schedule, size: str) -> None:
    """A row-wise product with up to 24 lanes, whose rows are added while the next ones are computed."""
    N = SIZES[size][1]
    lanes = divisor(N, 24)
    s.reorder("product:k", "product:j")
    s.partition(s.buffer_at("product:S", "product:i"), dim=1, factor=lanes)
    for loop in ("j", "j_1"):
        s.pipeline(s.split(f"product:{loop}", lanes)[0])
    s.pipeline("product:j_1_back")
    s.partition(s.B, dim=2, factor=lanes)
    s.pipeline("add:j")
    s.relay(s.S, "add", depth=N)
    s.dataflow("symm")


def arguments(size: str, T: AlloType = float32) -> tuple[Any, ...]:
    """alpha, beta, C, A, B as PolyBench initialises them; the upper triangle of A must not be read."""
    m, n = SIZES[size]
    row, column = np.ogrid[:m, :n]
    C = T[m, n]((row + column) % 100 / m)
    B = T[m, n]((n + row - column) % 100 / m)
    row, column = np.ogrid[:m, :m]
    A = T[m, m](np.where(column <= row, (row + column) % 100 / m, -999))
    return 1.5, 1.2, C, A, B


def reference(size: str, alpha: float, beta: float, C: Any, A: Any, B: Any) -> None:
    """The kernel in NumPy."""
    symmetric = np.tril(A) + np.tril(A, -1).T
    C[...] = beta * C + alpha * (symmetric @ B)


BENCHMARK = Benchmark("symm", ("M", "N"), SIZES, kernel, arguments, reference, {"best": Design(stages, best)})
