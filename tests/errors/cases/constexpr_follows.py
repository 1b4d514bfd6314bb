"""What needs a constant that could not be computed is no mistake of its own."""

from __future__ import annotations

import allo
from allo.ir.types import ConstExpr, index, int32


def half(n: int) -> int:
    raise ValueError(f"{n} is odd")


def kernel(A: int32[8]):
    size: ConstExpr[index] = half(3)
    part: ConstExpr[index] = size + 1
    B: int32[size] = 0
    with allo.meta_if(size > 3):
        B[0] = part
    with allo.meta_for(size) as u:
        A[u] = B[u]
