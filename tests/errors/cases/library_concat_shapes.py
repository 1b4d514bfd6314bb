"""Arrays of different widths behind each other."""

import allo
from allo.ir.types import float32


def kernel(A: float32[4, 8], B: float32[4, 7]) -> float32[8, 8]:
    return allo.concat(A, B)
