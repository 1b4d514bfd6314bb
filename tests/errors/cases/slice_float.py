"""A slice starts at a float."""

from allo.ir.types import float32


def kernel(A: float32[8], x: float32):
    A[x : x + 2] = 1
