"""A list has another length than its tensor."""

from allo.ir.types import int32


def kernel(A: int32[4]):
    B: int32[4] = [1, 2, 3]
    A[0] = B[0]
