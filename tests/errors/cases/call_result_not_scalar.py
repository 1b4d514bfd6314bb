"""The tensor result of a call stands in an expression."""

from allo.ir.types import int32


def other(B: int32[4]) -> int32[4]:
    return B


def kernel(A: int32[4]):
    A[0] = other(A) + 1
