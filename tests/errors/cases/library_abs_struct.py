"""abs() of a struct."""

import allo
from allo.ir.types import Struct, float32

Pair = Struct({"x": float32, "y": float32})


def kernel(p: Pair) -> float32:
    return allo.abs(p)
