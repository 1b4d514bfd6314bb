"""A parameter of a template does not follow from the arguments."""

from allo.ir.types import index, int32


def other[T, N: index](A: "T[4]"):
    A[0] = N


def kernel(A: int32[4]):
    other(A)
