"""A grid has more loops than there are variables."""

import allo
from allo.ir.types import int32


def kernel(A: int32[4]):
    for i in allo.grid(4, 4):
        A[i] = 1
