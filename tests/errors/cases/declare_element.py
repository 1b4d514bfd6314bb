"""An element is declared."""

from allo.ir.types import int32


def kernel(A: int32[4]):
    A[0]: int32 = 1
