"""A stateful array starts with a list of another length."""

from allo.ir.types import Stateful, int32


def kernel(A: int32[4]):
    x: Stateful[int32[4]] = [1, 2, 3]
    A[0] = x[0]
