"""The step of a loop is known at run time only."""

from allo.ir.types import int32


def kernel(A: int32[4]):
    for i in range(0, 4, A[0]):
        A[i] = 1
