"""range() has four bounds."""

from allo.ir.types import int32


def kernel(A: int32[4]):
    for i in range(0, 4, 1, 1):
        A[i] = 1
