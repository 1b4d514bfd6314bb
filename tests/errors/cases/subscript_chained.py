"""Subscripts are given one after the other."""

from allo.ir.types import int32


def kernel(A: int32[4, 4]):
    A[0][0] = 1
