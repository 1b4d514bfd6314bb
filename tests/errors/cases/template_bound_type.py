"""A template argument is another type than its bound."""

from allo.ir.types import int8, int32


def inner[T: int32](x: "T") -> int32:
    return x


def kernel(A: int32[4]):
    A[0] = inner[int8](1)
