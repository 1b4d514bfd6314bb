"""A shifted constant has too many bits."""

from allo.ir.types import int32


def kernel(A: int32[4]):
    A[0] = 1 << 5000
