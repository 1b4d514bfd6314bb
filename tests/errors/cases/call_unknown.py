"""A function is misspelt."""

from allo.ir.types import int32


def kernel(A: int32[4]):
    A[0] = mxa(A[1], A[2])
