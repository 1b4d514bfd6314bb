"""adi: heat diffusion in two dimensions by alternating implicit sweeps along columns and rows."""

from collections.abc import Callable
from typing import Any

import numpy as np

import allo
from allo.ir.types import AlloType, float32

from .benchmark import Benchmark, Design, Part
from .lanes import TURNS, divisor, divisors, in_banks

SIZES = {
    "MINI": (20, 20),
    "SMALL": (40, 60),
    "MEDIUM": (100, 200),
    "LARGE": (500, 1000),
    "EXTRALARGE": (1000, 2000),
}
DIVISION_TURNS = 32  # cycles from reading p to storing the next: a product, a sum and a division


def coefficients(size: str) -> tuple[float, ...]:
    """a, b, c of the tridiagonal equations along columns and d, e, f of those along rows."""
    steps, n = SIZES[size]
    DX, DY, DT = 1.0 / n, 1.0 / n, 1.0 / steps
    mul1, mul2 = 2.0 * DT / (DX * DX), 1.0 * DT / (DY * DY)
    return -mul1 / 2.0, 1.0 + mul1, -mul1 / 2.0, -mul2 / 2.0, 1.0 + mul2, -mul2 / 2.0


def column_sweep(size: str, T: AlloType = float32) -> Callable[..., None]:
    """Half a step along columns: v from u."""
    _, N = SIZES[size]
    a, b, c, d, _, f = coefficients(size)

    def column_sweep(u: T[N, N], v: T[N, N], p: T[N, N], q: T[N, N]):
        for i in range(1, N - 1):
            v[0, i] = 1.0
            p[i, 0] = 0.0
            q[i, 0] = v[0, i]
            for j in range(1, N - 1):
                p[i, j] = -c / (a * p[i, j - 1] + b)
                q[i, j] = (
                    -d * u[j, i - 1] + (1.0 + 2.0 * d) * u[j, i] - f * u[j, i + 1] - a * q[i, j - 1]
                ) / (a * p[i, j - 1] + b)
            v[N - 1, i] = 1.0
            for j1 in range(N - 2, 0, -1):
                v[j1, i] = p[i, j1] * v[j1 + 1, i] + q[i, j1]

    return column_sweep


def row_sweep(size: str, T: AlloType = float32) -> Callable[..., None]:
    """Half a step along rows: u from v."""
    _, N = SIZES[size]
    a, _, c, d, e, f = coefficients(size)

    def row_sweep(u: T[N, N], v: T[N, N], p: T[N, N], q: T[N, N]):
        for i in range(1, N - 1):
            u[i, 0] = 1.0
            p[i, 0] = 0.0
            q[i, 0] = u[i, 0]
            for j in range(1, N - 1):
                p[i, j] = -f / (d * p[i, j - 1] + e)
                q[i, j] = (
                    -a * v[i - 1, j] + (1.0 + 2.0 * a) * v[i, j] - c * v[i + 1, j] - d * q[i, j - 1]
                ) / (d * p[i, j - 1] + e)
            u[i, N - 1] = 1.0
            for j1 in range(N - 2, 0, -1):
                u[i, j1] = p[i, j1] * u[i, j1 + 1] + q[i, j1]

    return row_sweep


def kernel(size: str, T: AlloType = float32) -> Callable[..., None]:
    """The kernel for u and v of N x N; p and q hold the eliminated equations of a sweep."""
    TSTEPS, N = SIZES[size]
    sweep_columns, sweep_rows = column_sweep(size, T), row_sweep(size, T)

    def adi(u: T[N, N], v: T[N, N], p: T[N, N], q: T[N, N]):
        for t in range(TSTEPS):  # noqa: B007 - the name of the loop in schedules
            sweep_columns(u, v, p, q)
            sweep_rows(u, v, p, q)

    return adi


def in_turns(s: allo.Schedule, size: str) -> None:
    """All rows (or columns) take turns, so that a division ends before its quotient is needed."""
    inner = SIZES[size][1] - 2
    few = divisor(inner, max(1, inner // DIVISION_TURNS))
    many = max(d for d in divisors(inner) if d % few == 0 and inner // d >= min(TURNS, inner // few))
    s.reorder("j", "S_i_0.i")
    s.reorder("j1", "S_i_0_2.i")
    for nest, lanes in (("S_i_0_1", many), ("S_i_0", few), ("S_i_0_2_1", many), ("S_i_0_2", many)):
        s.pipeline(s.split(f"{nest}.i", lanes)[0])
    for matrix, *banks in ((s.u, many, many), (s.v, many, many), (s.p, many), (s.q, many)):
        in_banks(s, matrix, *banks)


PARTS = (Part(column_sweep, in_turns), Part(row_sweep, in_turns))
DESIGNS = {"vanilla": Design(kernel), "best": Design(kernel, parts=PARTS)}


def arguments(size: str, T: AlloType = float32) -> tuple[Any, ...]:
    """u, v, p, q as PolyBench initialises them."""
    _, n = SIZES[size]
    row, column = np.ogrid[:n, :n]
    return T[n, n]((row + n - column) / n), T[n, n](0), T[n, n](0), T[n, n](0)


def reference(size: str, u: Any, v: Any, p: Any, q: Any) -> None:
    """The kernel in NumPy, in float64: all columns, then all rows at once."""
    a, b, c, d, e, f = coefficients(size)
    U, V = u.astype(np.float64), v.astype(np.float64)
    for _ in range(SIZES[size][0]):
        right = -d * U[1:-1, :-2] + (1 + 2 * d) * U[1:-1, 1:-1] - f * U[1:-1, 2:]
        V[:, 1:-1] = _solve(a, b, c, right)[0]
        right = -a * V[:-2, 1:-1] + (1 + 2 * a) * V[1:-1, 1:-1] - c * V[2:, 1:-1]
        rows, P, Q = _solve(d, e, f, right.T)
        U[1:-1] = rows.T
    u[...], v[...] = U, V
    p[1:-1, :-1], q[1:-1, :-1] = P, Q.T


def _solve(lower: float, diagonal: float, upper: float, right: Any) -> tuple[Any, Any, Any]:
    """x between ones with lower x[j - 1] + diagonal x[j] + upper x[j + 1] = right[j], and p, q of its elimination.

    That is x[j] = p[j] x[j + 1] + q[j].
    """
    n = len(right) + 2
    p, q, x = np.zeros(n - 1), np.ones((n - 1, right.shape[1])), np.ones((n, right.shape[1]))
    for j in range(1, n - 1):
        pivot = lower * p[j - 1] + diagonal
        p[j], q[j] = -upper / pivot, (right[j - 1] - lower * q[j - 1]) / pivot
    for j in range(n - 2, 0, -1):
        x[j] = p[j] * x[j + 1] + q[j]
    return x, p, q


BENCHMARK = Benchmark("adi", ("TSTEPS", "N"), SIZES, kernel, arguments, reference, DESIGNS)
