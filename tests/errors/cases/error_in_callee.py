"""The mistake is in a kernel that is called."""

from allo.ir.types import int32


def other(B: int32[4]):
    B[0] = undefined


def kernel(A: int32[4]):
    other(A)
    other(A)
