"""A value is assigned in an expression."""

from allo.ir.types import int32


def kernel(A: int32[4]):
    A[0] = (x := 3)
