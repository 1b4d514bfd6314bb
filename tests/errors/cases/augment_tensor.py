"""A whole tensor is added to."""

from allo.ir.types import int32


def kernel(A: int32[4]):
    A += 1
