"""A kernel is a generator."""

from allo.ir.types import int32


def kernel(A: int32[4]):
    yield A[0]
