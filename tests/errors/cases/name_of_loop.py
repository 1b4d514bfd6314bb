"""A loop variable is used after its loop."""

from allo.ir.types import int32


def kernel(A: int32[4]):
    for i in range(4):
        A[i] = i
    A[0] = i
