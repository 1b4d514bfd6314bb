"""range() has no bound."""

from allo.ir.types import int32


def kernel(A: int32[4]):
    for i in range():
        A[i] = 1
