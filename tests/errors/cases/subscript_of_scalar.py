"""Bits of a float."""

from allo.ir.types import float32, int32


def kernel(x: float32, A: int32[4]):
    A[0] = x[0]
