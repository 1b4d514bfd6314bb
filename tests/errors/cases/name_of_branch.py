"""A variable is used after its branch."""

from allo.ir.types import int32


def kernel(A: int32[4]):
    if A[0] > 0:
        x: int32 = 1
    A[1] = x
