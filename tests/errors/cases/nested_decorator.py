"""A nested kernel has a decorator."""

from allo.ir.types import int32


def kernel(A: int32[4]):
    @staticmethod
    def inner(x: int32):
        pass

    A[0] = 1
