"""A tensor type is given two lists of extents."""

from allo.ir.types import int32


def kernel(A: int32[4]):
    B: int32[3][4] = 1
    A[0] = 1
