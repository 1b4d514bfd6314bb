"""Two instances of a template have one name."""

from allo.ir.types import index, int32


def fill[N: index](X: int32[4]):
    X[0] = N


def kernel(A: int32[4]):
    fill[1, "one"](A)
    fill[2, "one"](A)
    fill[1, "one"](A)
