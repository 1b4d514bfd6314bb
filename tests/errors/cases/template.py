"""A kernel has type parameters."""

from allo.ir.types import int32


def kernel[T](A: int32[4]):
    A[0] = 1
