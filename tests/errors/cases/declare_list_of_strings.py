"""A list holds no numbers."""

from allo.ir.types import int32


def kernel(A: int32[4]):
    B: int32[2] = ["a", "b"]
    A[0] = B[0]
