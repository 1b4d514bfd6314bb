"""Batches that do not broadcast."""

import allo
from allo.ir.types import float32


def kernel(A: float32[2, 4, 4], B: float32[3, 4, 4]) -> float32[2, 4, 4]:
    return A @ B
