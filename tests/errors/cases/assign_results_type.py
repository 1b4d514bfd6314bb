"""A call gives several results to one variable."""

from allo.ir.types import float32, int32


def two() -> (int32, float32):
    return 1, 1.5


def kernel(A: int32[4]):
    x: int32 = 0
    y: int32 = 0
    x, y = two()
    A[0] = x + y
