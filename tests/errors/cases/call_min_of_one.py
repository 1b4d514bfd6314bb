"""min() of one number."""

from allo.ir.types import int32


def kernel(A: int32[4]):
    A[0] = min(A[1])
