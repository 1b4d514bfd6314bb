"""Matrices that do not fit each other."""

import allo
from allo.ir.types import float32


def kernel(A: float32[4, 8], B: float32[6, 8], C: float32[4, 6]):
    C[:] = allo.matmul(A, B)
    C[:] = B @ C
    C[:] = allo.linear(A, C)
