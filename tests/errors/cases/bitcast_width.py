"""There is no float of that width."""

from allo.ir.types import float32, uint8


def kernel(x: uint8, A: float32[4]):
    A[0] = x.bitcast()
