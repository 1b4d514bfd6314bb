"""Two values for one place in a chain."""

from allo.ir.types import int32


def kernel(A: int32[4]):
    x, y = z = A[0], A[1]
    A[0] = x + y
