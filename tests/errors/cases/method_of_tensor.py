"""A tensor has no such method."""

from allo.ir.types import int32


def kernel(A: int32[4], B: int32[4]):
    B[0] = A.sum()
