"""bmm of matrices."""

import allo
from allo.ir.types import float32


def kernel(A: float32[4, 8], B: float32[8, 4]) -> float32[4, 4]:
    return allo.bmm(A, B)
