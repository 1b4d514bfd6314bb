"""A call gives another type than the variable has."""

from allo.ir.types import float32, int32


def one() -> float32:
    return 1.5


def kernel(A: int32[4]):
    x: int32 = 0
    x = one()
    A[0] = x
