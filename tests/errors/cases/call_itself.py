"""A kernel calls itself."""

from allo.ir.types import int32


def kernel(A: int32[4]):
    kernel(A)
