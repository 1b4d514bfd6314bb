"""An argument has no annotation."""

from allo.ir.types import int32


def kernel(A: int32[4], n):
    A[0] = n
