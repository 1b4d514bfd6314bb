"""A rounding mode has no such name."""

from allo.ir.types import Fixed, int32


def kernel(A: int32[4]):
    x: Fixed(16, 8, "round") = A[1]
    A[0] = x
