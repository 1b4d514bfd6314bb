"""A loop runs over the result of another function."""

from allo.ir.types import int32


def kernel(A: int32[4]):
    for i, x in enumerate(A):
        A[i] = 1
