"""The position of a bit is a float."""

from allo.ir.types import float32, int32, uint8


def kernel(x: uint8, y: float32, A: int32[4]):
    A[0] = x[y]
