"""Bits of a float are combined."""

from allo.ir.types import float32, int32


def kernel(A: int32[4], x: float32):
    A[0] = x & 1
