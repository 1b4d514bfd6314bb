"""A template argument is a Python list."""

from allo.ir.types import int32

LIST = (1, 2)


def inner[T](x: int32) -> int32:
    return x


def kernel(A: int32[4]):
    A[0] = inner[LIST](1)
