"""An array is made of two values."""

from allo.ir.types import int32


def kernel(A: int32[4]):
    B = int32[4](1, 2)
    A[0] = B[0]
