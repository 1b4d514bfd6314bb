"""A `with` that is not of Allo."""

from allo.ir.types import int32


def kernel(A: int32[4]):
    with open("x"):
        A[0] = 1
