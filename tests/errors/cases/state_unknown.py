"""A stateful variable starts with an unknown name."""

from allo.ir.types import Stateful, int32


def kernel(A: int32[4]):
    x: Stateful[int32] = missing
    A[0] = x
