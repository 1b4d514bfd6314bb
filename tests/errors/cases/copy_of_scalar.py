"""A scalar is copied like an array."""

from allo.ir.types import int32


def kernel(A: int32[4]):
    A[0] = A[1].copy()
