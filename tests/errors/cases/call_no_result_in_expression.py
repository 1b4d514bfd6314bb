"""The call of a kernel without results stands in an expression."""

from allo.ir.types import int32


def other(B: int32[4]):
    B[0] = 1


def kernel(A: int32[4]):
    A[0] = 2 * other(A)
