"""The length of something that is no array, and of two arrays."""

from allo.ir.types import int32


def kernel(A: int32[4], x: int32):
    A[0] = len(x)
    A[1] = len(A, A)
