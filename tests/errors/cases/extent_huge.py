"""An extent is larger than any memory."""

from allo.ir.types import int32


def kernel(A: int32[4]):
    B: int32[2**5000] = 1
    A[0] = 1
