"""A shape with another number of elements."""

import allo
from allo.ir.types import float32


def kernel(A: float32[4, 8], B: float32[5, 6]):
    B[:] = allo.view(A, (5, 6))
    B[:] = allo.view(A, (5, -1))
