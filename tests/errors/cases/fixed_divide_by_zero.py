"""A fixed-point number is divided by the constant zero."""

from allo.ir.types import Fixed, int32

Q = Fixed(16, 8)


def kernel(A: int32[4]):
    x: Q = A[1]
    A[0] = x // 0
    A[2] = x % 0
    A[3] = x << -2
