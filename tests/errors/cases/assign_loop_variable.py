"""A loop variable is assigned."""

from allo.ir.types import int32


def kernel(A: int32[4]):
    for i in range(4):
        i = i + 1
