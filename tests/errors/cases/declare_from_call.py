"""A call gives another type than is declared."""

from allo.ir.types import float32, int32


def other() -> float32[4]:
    B: float32[4] = 1.5
    return B


def kernel(A: int32[4]):
    B: int32[4] = other()
    A[0] = B[0]
