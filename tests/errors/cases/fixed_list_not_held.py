"""A number that is too large for its fixed-point type."""

from allo.ir.types import Fixed, float32

Q = Fixed(8, 4)


def kernel(A: float32[2]):
    B: Q[2] = [7.99, 8]
    A[0] = B[0]
