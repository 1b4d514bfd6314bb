"""An extent is zero."""

from allo.ir.types import int32


def kernel(A: int32[4]):
    B: int32[0] = 1
    A[0] = 1
