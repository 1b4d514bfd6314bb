"""A constant subscript is outside of the array."""

from allo.ir.types import int32


def kernel(A: int32[4]):
    A[4] = 1
