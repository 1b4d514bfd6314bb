"""A template argument does not satisfy the constraint."""

from allo.ir.types import int8, int16, int32


def inner[T: (int8, int32)](x: "T") -> int32:
    return x


def kernel(A: int32[4]):
    A[0] = inner[int16](1)
