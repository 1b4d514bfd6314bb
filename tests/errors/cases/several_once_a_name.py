"""An unknown name is reported once, where it comes first."""

from allo.ir.types import int32


def kernel(A: int32[4]):
    A[0] = first_one
    A[1] = first_one + 1
    A[2] = second_one
