"""3mm of POM: three nests of eight lanes, of which the first two run at once."""

from __future__ import annotations

import allo
from allo.ir.types import float32 as T

from .stages import banks


def _three_mm(
    A: T[180, 200], B: T[200, 190], C: T[190, 220], D: T[220, 210], E: T[180, 190], F: T[190, 210], G: T[180, 210]
):
    for i0, j0 in allo.grid(180, 190):
        E[i0, j0] = 0.0
    for i1, j1 in allo.grid(190, 210):
        F[i1, j1] = 0.0
    for i2, j2 in allo.grid(180, 210):
        G[i2, j2] = 0.0
    for k3, i3, j3 in allo.grid(200, 180, 190):
        E[i3, j3] += A[i3, k3] * B[k3, j3]
    for k4, i4, j4 in allo.grid(220, 190, 210):
        F[i4, j4] += C[i4, k4] * D[k4, j4]
    for k5, i5, j5 in allo.grid(190, 180, 210):
        G[i5, j5] += E[i5, k5] * F[k5, j5]


def three_mm() -> allo.Schedule:
    """Two rows, two columns and two terms of each product a cycle."""
    s = allo.customize(_three_mm)
    for loop in ("j0", "j1", "j2"):
        s.pipeline(loop)
    for n in (3, 4, 5):
        loops = [f"{name}{n}" for name in "kij"]
        for loop in loops:
            s.split(loop, 2)
        s.reorder(*(f"{loop}.outer" for loop in loops), *(f"{loop}.inner" for loop in loops))
        s.pipeline(f"j{n}.outer")
    for array in ("A", "B", "C", "D", "E", "F", "G"):
        banks(s, array, 2, 2)
    return s
