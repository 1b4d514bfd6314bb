"""A result is returned that is not declared."""

from allo.ir.types import int32


def kernel(A: int32[4]):
    return A
