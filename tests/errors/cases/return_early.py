"""A kernel returns in the middle."""

from allo.ir.types import int32


def kernel(A: int32[4]) -> int32:
    if A[0] > 0:
        return 1
    return 2
