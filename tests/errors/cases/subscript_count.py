"""A subscript is missing."""

from allo.ir.types import int32


def kernel(A: int32[4, 4]):
    A[0] = 1
