"""Several values in one assignment."""

from allo.ir.types import int32


def kernel(A: int32[4]):
    x, y = 1, 2
    A[0] = 3
