"""Kernels whose schedules the tests search."""

# ruff: noqa: F821 - kernels declare arrays without a value

import allo
from allo.ir.types import float32, int32
from allo.search import Choose

N, M = 16, 64


def product(A: int32[N, N], B: int32[N, N], C: int32[N, N]):
    for i in range(N):
        for j in range(N):
            C[i, j] = 0
        for k in range(N):
            for j1 in range(N):
                C[i, j1] += A[i, k] * B[k, j1]


def matvec(A: float32[N, M], x: float32[M], y: float32[N]):
    for i in range(N):
        for j in range(M):
            y[i] += A[i, j] * x[j]


def chain(A: float32[M], B: float32[M]):
    T: float32[M]
    for i in range(M):
        T[i] = A[i] * 2.0
    for j in range(M):
        B[j] = T[j] + 1.0


def both_sums(A: float32[N, N], x: float32[N], y: float32[N], rows: float32[N], columns: float32[N]):
    for i in range(N):
        for j in range(N):
            columns[j] += A[i, j] * y[i]
            rows[i] += A[i, j] * x[j]


def solve(A: int32[N, N], B: int32[N]):
    for i in range(N):
        for j in range(i):
            B[i] -= A[i, j] * B[j]


def blur(A: float32[N + 2, N + 2], B: float32[N, N]):
    for i in range(N):
        for j in range(N):
            B[i, j] = A[i, j] + A[i, j + 1] + A[i + 1, j] + A[i + 2, j + 2]


def fading(A: float32[M + 1, M + 1], x: float32[M]):
    for i in range(M):
        for k in range(M):
            x[i] = x[i] * 0.5 + A[i, k + 1]
            A[i + 1, k] = x[i]


def lanes(s: allo.Schedule, choose: Choose) -> None:
    """A space of 3 x 2 x 2 points."""
    factor = choose("factor", (1, 2, 4))
    if choose.flag("interchange"):
        s.reorder("j1", "k")
    if factor > 1:
        s.split("j1", factor)
    if choose.flag("pipeline"):
        s.pipeline("i")


def convolution(A: float32[4, 10, 10], W: float32[8, 4, 3, 3], Z: float32[8, 8, 8]):
    for o, y, x, c, p, q in allo.grid(8, 8, 8, 4, 3, 3):
        Z[o, y, x] += A[c, y + p, x + q] * W[o, c, p, q]
