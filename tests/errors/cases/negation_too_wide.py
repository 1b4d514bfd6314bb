"""The negation of the widest integer needs one bit more."""

from allo.ir.types import Int, int32

Widest = Int(1024)


def kernel(A: int32[4]):
    x: Widest = A[1]
    A[0] = -x
    A[2] = abs(x)
