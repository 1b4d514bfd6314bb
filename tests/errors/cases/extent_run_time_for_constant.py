"""An array of run-time extent is given to a kernel that wants a fixed one, and meets others."""

from allo.ir.types import float32


def other(X: float32[4]):
    X[0] = 1


def kernel(A: float32[...], B: float32[4]):
    other(A)
    B[:] = A
    B[:] = A + B
    A[:] = B
