"""A list of numbers that the declared type does not hold."""

from allo.ir.types import int32


def kernel(A: int32[2]):
    B: int32[2] = [1.5, 2.5]
    A[0] = B[0]
