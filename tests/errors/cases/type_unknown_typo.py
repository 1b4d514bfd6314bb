"""A type is misspelt."""

from allo.ir.types import int32


def kernel(A: int32[4]):
    x: flaot32 = 1.5
    A[0] = x
