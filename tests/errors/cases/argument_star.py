"""An argument collects the rest."""

from allo.ir.types import int32


def kernel(A: int32[4], *rest: int32):
    A[0] = 1
