"""A tensor is assigned to a scalar."""

from allo.ir.types import int32


def kernel(A: int32[4]):
    x: int32 = 0
    x = A
