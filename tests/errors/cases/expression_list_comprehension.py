"""A list is computed."""

from allo.ir.types import int32


def kernel(A: int32[4]):
    A[0] = [i for i in range(4)]
