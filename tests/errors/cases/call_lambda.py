"""A lambda is called."""

from allo.ir.types import int32

double = lambda x: 2 * x


def kernel(A: int32[4]):
    A[0] = double(A[1])
