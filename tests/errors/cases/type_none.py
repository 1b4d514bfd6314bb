"""None is no type."""

from allo.ir.types import int32


def kernel(A: int32[4]):
    x: None = 1
    A[0] = 1
