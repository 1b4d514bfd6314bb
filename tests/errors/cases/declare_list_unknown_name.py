"""A list holds a misspelt name."""

from allo.ir.types import int32

ORIGIN = 1


def kernel(A: int32[4]):
    B: int32[2] = [1, ORIGN]
    A[0] = B[0]
