"""softmax of an array of structs."""

import allo
from allo.ir.types import Struct, float32

Pair = Struct({"x": float32, "y": float32})


def kernel(A: Pair[4]) -> float32[4]:
    return allo.softmax(A)
