"""A variable and a result have an extent of run time."""

from allo.ir.types import float32, int32

Row = float32[...]


def kernel(A: float32[...], n: int32) -> float32[...]:
    B: float32[4, ...] = 0
    C: Row = 0
    D = A * 2
    return A
