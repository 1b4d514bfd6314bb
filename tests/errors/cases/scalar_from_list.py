"""A list is given to a scalar."""

from allo.ir.types import int32


def kernel(A: int32[4]):
    x: int32 = [1]
    A[0] = x
