"""The matrix product as an augmented assignment."""

from allo.ir.types import int32


def kernel(A: int32[4, 4], B: int32[4, 4]):
    A @= B
