"""An array is larger than all memory."""

from allo.ir.types import int32


def kernel(A: int32[4]):
    B: int32[1 << 30, 1 << 30] = 1
    A[0] = 1
