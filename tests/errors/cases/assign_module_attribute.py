"""A name of a Python module is assigned."""

import math

from allo.ir.types import int32


def kernel(A: int32[4]):
    math.pi = 3
    A[0] = 1
