"""The result of a call is an array, in a part of an expression that is not always evaluated."""

from allo.ir.types import int32


def other(B: int32[4]) -> int32[4]:
    C: int32[4] = 1
    C += B
    return C


def kernel(A: int32[4]):
    A[0] = other(A)[1] if A[1] > 0 else 2
    A[1] = A[0] > 0 and other(A)[2]
