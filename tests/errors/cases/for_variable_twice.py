"""Two loops of a nest have the same variable."""

import allo
from allo.ir.types import int32


def kernel(A: int32[4]):
    for i, i in allo.grid(4, 4):
        A[i] = 1
