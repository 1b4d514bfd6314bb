"""A type that kernels do not have yet."""

from allo.ir.types import Fixed, int32


def kernel(A: int32[4]):
    x: Fixed(8, 3) = 1
    A[0] = 1
