"""The constraint of a template has no value."""

from allo.ir.types import int32


def inner[T: MISSING](x: int32) -> int32:
    return x


def kernel(A: int32[4]):
    A[0] = inner[int32](1)
