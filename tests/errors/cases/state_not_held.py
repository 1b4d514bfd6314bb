"""A state that starts with a number that its type does not hold."""

from allo.ir.types import Stateful, int8


def kernel(A: int8[2]):
    kept: Stateful[int8[2]] = [-128, 128]
    A[0] = kept[1]
