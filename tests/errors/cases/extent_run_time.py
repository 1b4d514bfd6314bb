"""An extent is known at run time only."""

from allo.ir.types import int32


def kernel(A: int32[4], n: int32):
    B: int32[n] = 1
    A[0] = 1
