"""An integer type is too wide."""

from allo.ir.types import Int, int32


def kernel(A: int32[4]):
    x: Int(2000) = 1
    A[0] = 1
