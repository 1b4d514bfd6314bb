"""Operators on bits are not defined on fixed point."""

from allo.ir.types import Fixed, int32

Q = Fixed(16, 8)


def kernel(A: int32[4]):
    x: Q = A[1]
    A[0] = x & 3
    A[1] = 1 << x
    A[2] = ~x
