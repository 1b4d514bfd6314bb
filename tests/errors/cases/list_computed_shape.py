"""A list with a value of run time has another shape than the array."""

from allo.ir.types import int32


def kernel(a: int32) -> int32:
    B: int32[3] = [1, a]
    return B[0]
