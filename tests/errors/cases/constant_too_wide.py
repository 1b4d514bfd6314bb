"""A constant product has too many bits."""

from allo.ir.types import int32


def kernel(A: int32[4]):
    A[0] = 10**300 * 10**300
