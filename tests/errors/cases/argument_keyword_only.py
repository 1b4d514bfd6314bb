"""An argument can only be given by name."""

from allo.ir.types import int32


def kernel(A: int32[4], *, n: int32):
    A[0] = n
