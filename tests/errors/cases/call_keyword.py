"""A kernel is called with an argument by name."""

from allo.ir.types import int32


def other(B: int32[4]):
    B[0] = 1


def kernel(A: int32[4]):
    other(B=A)
