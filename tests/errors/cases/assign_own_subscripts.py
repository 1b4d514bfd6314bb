"""An element of an array is the bound of the slice of it that is assigned."""

from allo.ir.types import int32


def kernel(A: int32[4]):
    A[A[0] : A[0] + 2] = 1
