"""A template argument is known at run time only."""

from allo.ir.types import int32


def inner[T](x: int32) -> int32:
    return x


def kernel(A: int32[4], n: int32):
    A[0] = inner[n](1)
