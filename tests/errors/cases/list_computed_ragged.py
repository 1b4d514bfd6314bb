"""The rows of a list with a value of run time have different lengths."""

from allo.ir.types import int32


def kernel(a: int32) -> int32:
    B: int32[2, 2] = [[1, a], [2]]
    return B[0, 0]
