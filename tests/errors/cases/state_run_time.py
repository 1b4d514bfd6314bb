"""A stateful variable starts with a run-time value."""

from allo.ir.types import Stateful, int32


def kernel(A: int32[4], n: int32):
    x: Stateful[int32] = n
    A[0] = x
