"""Identity is compared."""

from allo.ir.types import int32


def kernel(A: int32[4]):
    A[0] = 1 if A[1] is A[2] else 0
