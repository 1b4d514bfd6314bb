"""A kernel is called with a tensor of another shape."""

from allo.ir.types import int32


def other(B: int32[5]):
    B[0] = 1


def kernel(A: int32[4]):
    other(A)
