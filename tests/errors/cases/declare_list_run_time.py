"""A list holds a value of run time."""

from allo.ir.types import int32


def kernel(A: int32[4]):
    B: int32[2] = [1, A[0]]
    A[0] = B[0]
