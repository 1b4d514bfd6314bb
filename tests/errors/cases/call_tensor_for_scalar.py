"""A kernel is called with a tensor for a scalar."""

from allo.ir.types import int32


def other(n: int32) -> int32:
    return n + 1


def kernel(A: int32[4]):
    A[0] = other(A)
