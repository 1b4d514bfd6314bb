"""A subscript is a float."""

from allo.ir.types import float32, int32


def kernel(A: int32[4], x: float32):
    A[x] = 1
