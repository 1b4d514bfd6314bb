"""The value of an operation is assigned."""

from allo.ir.types import int32


def kernel(A: int32[4], B: int32[4]):
    (A + B)[0:2] = 1
