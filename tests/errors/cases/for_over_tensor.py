"""A loop runs over a tensor."""

from allo.ir.types import int32


def kernel(A: int32[4]):
    for x in A:
        A[0] = 1
