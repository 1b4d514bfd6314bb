"""A tensor type made outside of the kernel has an extent that is no number."""

from allo.ir.types import int32

Vector = int32["n"]


def kernel(A: int32[4]):
    B: Vector = 1
    A[0] = 1
