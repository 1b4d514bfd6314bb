"""A type stands for an extent."""

from allo.ir.types import index, int32


def inner[M: index](x: int32) -> int32:
    return x * M


def kernel(A: int32[4]):
    A[0] = inner[int32](1)
