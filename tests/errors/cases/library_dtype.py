"""A dtype that is a text."""

import allo
from allo.ir.types import float32


def kernel() -> float32[4]:
    return allo.zeros(4, dtype="float")
