"""A variable that keeps its value starts with something that is no number."""

from allo.ir.types import Stateful, int32


def kernel(A: int32[4]):
    n: Stateful[int32] = "abc"
    A[0] = n
