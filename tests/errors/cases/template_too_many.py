"""A kernel that is no template gets template arguments."""

from allo.ir.types import int32


def inner(x: int32) -> int32:
    return x


def kernel(A: int32[4]):
    A[0] = inner[int32](1)
