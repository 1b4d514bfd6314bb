"""The step of a loop is zero."""

from allo.ir.types import int32


def kernel(A: int32[4]):
    for i in range(0, 4, 0):
        A[i] = 1
