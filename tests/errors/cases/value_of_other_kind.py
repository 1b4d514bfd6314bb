"""A Python value is no number."""

from allo.ir.types import int32

GREETING = "hello"


def kernel(A: int32[4]):
    A[0] = GREETING
