"""The call of a kernel with two results stands in an expression."""

from allo.ir.types import int32


def other(B: int32[4]) -> (int32, int32):
    return B[0], B[1]


def kernel(A: int32[4]):
    A[0] = other(A) + 1
