"""A tensor is copied to one of another shape."""

from allo.ir.types import int32


def kernel(A: int32[4]):
    B: int32[5] = A
    A[0] = B[0]
