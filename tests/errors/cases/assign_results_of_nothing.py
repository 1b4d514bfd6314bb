"""Two names are given something that is no call."""

from allo.ir.types import int32


def kernel(A: int32[4]):
    x, y = A[0]
