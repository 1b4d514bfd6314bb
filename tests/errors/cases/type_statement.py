"""A kernel names a type."""

from allo.ir.types import int32


def kernel(A: int32[4]):
    type Word = int
    A[0] = 1
