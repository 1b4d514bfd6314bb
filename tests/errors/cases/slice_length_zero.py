"""A slice with a start known at run time has no elements."""

from allo.ir.types import int32


def kernel(A: int32[4], n: int32):
    A[n : n + 0] = 1
