"""A call gives an array of another shape than is declared."""

from allo.ir.types import float32


def other() -> float32[4]:
    B: float32[4] = 1.5
    return B


def kernel(A: float32[4]):
    B: float32[3] = other()
    A[0] = B[0]
