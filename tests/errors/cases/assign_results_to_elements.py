"""Results of a call are given to elements."""

from allo.ir.types import int32


def pair() -> (int32, int32):
    return 1, 2


def kernel(A: int32[4]):
    A[0], A[1] = pair()
