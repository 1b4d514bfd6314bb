"""The declared result is not returned."""

from allo.ir.types import int32


def kernel(A: int32[4]) -> int32:
    A[0] = 1
