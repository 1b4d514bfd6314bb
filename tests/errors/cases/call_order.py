"""A call changes an array of which the statement has read an element already."""

from allo.ir.types import int32


def other(B: int32[4]) -> int32[4]:
    B[0] += 1
    C: int32[4] = 1
    return C


def kernel(A: int32[4]):
    A[1] = A[0] + other(A)[1]
