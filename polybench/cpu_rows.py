"""Solvers and products with vectors on one core of a CPU: loops over rows, and sums kept in the lanes of a vector."""

from collections.abc import Callable

import allo
from allo.ir.types import AlloType, float32

from . import bicg, gramschmidt, lu, mvt
from .benchmark import Design
from .lanes import divisor

LANES, ROWS = 8, 5  # partial sums of a row, and most rows at once


def dots(M: int, N: int, T: AlloType) -> Callable[..., None]:
    """y += A x for A of M x N: the sums of a block of rows, each in LANES parts and a tail."""
    BLOCK, FULL = divisor(M, ROWS), N // LANES

    def rows(A: T[M, N], x: T[N], y: T[M]):
        for b in range(M // BLOCK):
            parts: T[BLOCK, LANES] = 0
            for n in range(FULL):
                for r in range(BLOCK):
                    for lane in range(LANES):
                        parts[r, lane] += A[BLOCK * b + r, LANES * n + lane] * x[LANES * n + lane]
            for row in range(BLOCK):
                for part in range(LANES):
                    y[BLOCK * b + row] += parts[row, part]
                for j in range(LANES * FULL, N):
                    y[BLOCK * b + row] += A[BLOCK * b + row, j] * x[j]

    return rows


def schedule_dots(s: allo.Schedule, size: str) -> None:
    """The parts stay in registers."""
    for loop in ("r", "lane", "row", "part"):
        s.unroll(f"rows:{loop}")


def split_mvt(size: str, T: AlloType = float32) -> Callable[..., None]:
    """Sums of rows in lanes; those of columns are passes over rows."""
    (N,) = mvt.SIZES[size]
    rows = dots(N, N, T)

    def columns(x2: T[N], y2: T[N], A: T[N, N]):
        for j, i in allo.grid(N, N):
            x2[i] += A[j, i] * y2[j]

    def mvt_(x1: T[N], x2: T[N], y1: T[N], y2: T[N], A: T[N, N]):
        rows(A, y1, x1)
        columns(x2, y2, A)

    return mvt_


def split_bicg(size: str, T: AlloType = float32) -> Callable[..., None]:
    """Sums of rows in lanes; those of columns are passes over rows."""
    M, N = bicg.SIZES[size]
    rows = dots(N, M, T)

    def columns(A: T[N, M], s: T[M], r: T[N]):
        for j, i in allo.grid(N, M):
            s[i] += r[j] * A[j, i]

    def bicg_(A: T[N, M], s: T[M], q: T[N], p: T[M], r: T[N]):
        for j0 in range(M):
            s[j0] = 0.0
        for i0 in range(N):
            q[i0] = 0.0
        rows(A, p, q)
        columns(A, s, r)

    return bicg_


def lu_by_rows(size: str, T: AlloType = float32) -> Callable[..., None]:
    """lu, each row of which loses its part of one row above after the other."""
    (N,) = lu.SIZES[size]

    def lu_(A: T[N, N]):
        for i in range(N):
            for k in range(i):
                A[i, k] /= A[k, k]
                factor: T = A[i, k]
                for j in range(k + 1, N):
                    A[i, j] -= factor * A[k, j]

    return lu_


def schedule_lu(s: allo.Schedule, size: str) -> None:
    """Several vectors at once."""
    s.unroll("j", 32)


def gramschmidt_by_rows(size: str, T: AlloType = float32) -> Callable[..., None]:
    """gramschmidt, whose loops over all columns are passes over rows."""
    M, N = gramschmidt.SIZES[size]

    def gramschmidt_(A: T[M, N], R: T[N, N], Q: T[M, N]):
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
                for j2 in range(k + 1, N):
                    R[k, j2] += Q[i2, k] * A[i2, j2]
            for i3 in range(M):
                for j3 in range(k + 1, N):
                    A[i3, j3] -= Q[i3, k] * R[k, j3]

    return gramschmidt_


def schedule_gramschmidt(s: allo.Schedule, size: str) -> None:
    """Several rows in one pass over a row of R."""
    terms, few = s.split("i2", divisor(gramschmidt.SIZES[size][0], ROWS))
    s.reorder(terms, "j2", few)
    s.unroll(few)


OF_ROWS = {
    "mvt": Design(split_mvt, schedule_dots, reassociated=True),
    "bicg": Design(split_bicg, schedule_dots, reassociated=True),
    "lu": Design(lu_by_rows, schedule_lu),
    "gramschmidt": Design(gramschmidt_by_rows, schedule_gramschmidt),
}
