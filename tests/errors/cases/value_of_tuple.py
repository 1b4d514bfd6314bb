"""Elements of a tuple of the surrounding program that are no constants."""

from allo.ir.types import int32

SIZES = (4, 8)


def kernel(A: int32[4], i: int32):
    A[0] = SIZES[i]
    A[1] = SIZES[2]
    A[2] = SIZES
    SIZES[0] = 3
