"""The step of a slice is zero."""

from allo.ir.types import int32


def kernel(A: int32[4]):
    A[0:4:0] = 1
