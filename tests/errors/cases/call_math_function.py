"""A function of the math module is called."""

import math

from allo.ir.types import int32


def kernel(A: int32[4]):
    A[0] = math.sin(1.5)
