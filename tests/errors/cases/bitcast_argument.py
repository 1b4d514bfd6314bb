"""The methods on bits take no arguments."""

from allo.ir.types import int32


def kernel(x: int32, A: int32[4]):
    A[0] = x.reverse(3)
