"""A scalar is indexed."""

from allo.ir.types import int32


def kernel(A: int32[4], n: int32):
    A[0] = n[0]
