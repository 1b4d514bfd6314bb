"""A tensor has no such attribute."""

from allo.ir.types import int32


def kernel(A: int32[4], B: int32[4]):
    B[:] = A.flat
