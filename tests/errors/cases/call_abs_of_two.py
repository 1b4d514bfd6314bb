"""abs() of two numbers."""

from allo.ir.types import int32


def kernel(A: int32[4]):
    A[0] = abs(A[1], A[2])
