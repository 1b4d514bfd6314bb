"""The rows of a list differ in length."""

from allo.ir.types import int32


def kernel(A: int32[4]):
    B: int32[2, 2] = [[1, 2], [3]]
    A[0] = B[0, 0]
