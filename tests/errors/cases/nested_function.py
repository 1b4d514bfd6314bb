"""A kernel defines another one."""

from allo.ir.types import int32


def kernel(A: int32[4]):
    def inner(x: int32):
        pass

    A[0] = 1
