"""Designs of Table 3 of the Allo paper whose structure follows from their cycles and DSPs."""

# ruff: noqa: F821 - kernels declare arrays without a value

from __future__ import annotations

import allo
from allo.ir.types import float32 as T

from .stages import banks

LANES = 20


def _trmm(A: T[200, 200], B: T[200, 240]):
    for i in range(200):
        row: T[240]
        for j0 in range(240):
            row[j0] = B[i, j0]
        for k in range(200):
            for j in range(240):
                if k > i:
                    row[j] += A[k, i] * B[k, j]
        for j1 in range(240):
            B[i, j1] = 1.5 * row[j1]


def trmm() -> allo.Schedule:
    """A row of sums, 20 lanes, all terms visited."""
    s = allo.customize(_trmm)
    for loop in ("j0", "j", "j1"):
        s.pipeline(s.split(loop, LANES)[0])
    banks(s, "row", LANES)
    banks(s, "B", 1, LANES)
    return s


def _jacobi_2d(A: T[250, 250], B: T[250, 250]):
    for _ in range(100):
        for i in range(1, 249):
            for j in range(1, 249):
                B[i, j] = (A[i, j] + A[i, j - 1] + A[i, j + 1] + A[i + 1, j] + A[i - 1, j]) / 5.0
        for i1 in range(1, 249):
            for j1 in range(1, 249):
                A[i1, j1] = (B[i1, j1] + B[i1, j1 - 1] + B[i1, j1 + 1] + B[i1 + 1, j1] + B[i1 - 1, j1]) / 5.0


def jacobi_2d() -> allo.Schedule:
    """A whole row in each cycle, with a division, since DSPs are those of four sums."""
    s = allo.customize(_jacobi_2d)
    for array, loop in (("A", "i"), ("B", "i1")):
        s.partition(s.reuse_at(array, loop))
        s.pipeline(loop)
    for array in ("A", "B"):
        banks(s, array, 1, 0)
    return s
