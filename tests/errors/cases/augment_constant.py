"""A constant of the program is added to."""

from allo.ir.types import int32

N = 4


def kernel(A: int32[4]):
    N += A[0]
