"""A subscript is a condition."""

from allo.ir.types import int32


def kernel(A: int32[4]):
    A[A[0] > 1] = 1
