"""An argument has a default value."""

from allo.ir.types import int32


def kernel(A: int32[4], n: int32 = 3):
    A[0] = n
