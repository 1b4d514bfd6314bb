"""An axis of run time."""

import allo
from allo.ir.types import float32, int32


def kernel(A: float32[4, 4], B: float32[8, 4], d: int32):
    B[:] = allo.concat(A, A, axis=d)
    B[:] = allo.concat(A, A, axis=dim)
