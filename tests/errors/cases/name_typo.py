"""A name is misspelt."""

from allo.ir.types import int32


def kernel(A: int32[4]):
    total: int32 = 0
    A[0] = totl
