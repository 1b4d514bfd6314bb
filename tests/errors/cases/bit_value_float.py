"""A bit is assigned a float."""

from allo.ir.types import int32


def kernel(A: int32[4]):
    A[0][2] = 1.5
