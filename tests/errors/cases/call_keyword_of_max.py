"""A keyword of max()."""

from allo.ir.types import int32


def kernel(A: int32[4]):
    A[0] = max(A[1], A[2], key=abs)
