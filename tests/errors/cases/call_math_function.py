"""A function of the math module is called with a run-time value."""

import math

from allo.ir.types import float32, int32


def kernel(A: int32[4], x: float32):
    A[0] = math.sin(x)
