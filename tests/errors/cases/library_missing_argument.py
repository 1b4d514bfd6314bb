"""matmul of one matrix."""

import allo
from allo.ir.types import float32


def kernel(A: float32[4, 4]) -> float32[4, 4]:
    return allo.matmul(A)
