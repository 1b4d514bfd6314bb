"""A bound is given by name."""

from allo.ir.types import int32


def kernel(A: int32[4]):
    for i in range(0, stop=4):
        A[i] = 1
