"""A slice of bits is wider than the integer."""

from allo.ir.types import int32, uint8


def kernel(A: int32[4], x: uint8, n: int32):
    A[0] = x[n : n + 20]
