"""The name of the loops of an operator is a number."""

import allo
from allo.ir.types import float32


def kernel(A: float32[4]) -> float32[4]:
    B: float32[4] = allo.add(A, A, name=3)
    return allo.exp(B, name=A)
