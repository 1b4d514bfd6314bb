"""A slice of bits has a step."""

from allo.ir.types import int32, uint8


def kernel(x: uint8, A: int32[4]):
    A[0] = x[0:4:2]
