"""The results of a call to places in a chain."""

from allo.ir.types import int32


def both(a: int32) -> (int32, int32):
    return a, a + 1


def kernel(A: int32[4]):
    x, y = z = both(A[0])
    A[0] = 2
