"""A loop bound does not fit an index."""

from allo.ir.types import int32


def kernel(A: int32[4]):
    for i in range(2**40):
        A[0] = 1
