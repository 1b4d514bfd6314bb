"""A type was not imported."""

from allo.ir.types import int32


def kernel(A: int32[4]):
    x: Stream = 1
    A[0] = 1
