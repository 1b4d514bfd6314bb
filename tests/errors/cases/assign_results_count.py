"""A call gives another number of results than there are names."""

from allo.ir.types import int32


def pair() -> (int32, int32):
    return 1, 2


def kernel(A: int32[4]):
    x, y, z = pair()
    A[0] = 1
