"""A tensor of another shape is assigned."""

from allo.ir.types import int32


def kernel(A: int32[4], B: int32[3]):
    A[:] = B
