"""A constant power is too wide."""

from allo.ir.types import int32


def kernel(A: int32[4]):
    A[0] = 3**5000
