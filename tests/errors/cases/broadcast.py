"""Shapes that do not broadcast."""

from allo.ir.types import int32


def kernel(A: int32[4], B: int32[3], C: int32[4]):
    C[:] = A + B
