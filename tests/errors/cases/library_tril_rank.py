"""The triangle of a vector."""

import allo
from allo.ir.types import float32


def kernel(v: float32[4]) -> float32[4]:
    return allo.tril(v)
