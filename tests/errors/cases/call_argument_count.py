"""A kernel is called with too few arguments."""

from allo.ir.types import int32


def other(B: int32[4], n: int32):
    B[0] = n


def kernel(A: int32[4]):
    other(A)
