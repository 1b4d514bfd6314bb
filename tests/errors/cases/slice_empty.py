"""A slice is empty."""

from allo.ir.types import int32


def kernel(A: int32[4]):
    A[3:2] = 1
