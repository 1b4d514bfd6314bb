"""A loop runs over the end of an array."""

from allo.ir.types import int32


def kernel(A: int32[4]):
    for i in range(4):
        A[i + 1] = A[i]
