"""The length of a slice is no constant."""

from allo.ir.types import int32


def kernel(A: int32[4], n: int32):
    A[n:] = 1
