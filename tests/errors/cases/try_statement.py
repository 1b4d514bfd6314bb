"""A kernel handles exceptions."""

from allo.ir.types import int32


def kernel(A: int32[4]):
    try:
        A[0] = 1
    except ValueError:
        A[0] = 2
