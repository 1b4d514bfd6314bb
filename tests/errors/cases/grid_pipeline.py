"""A grid is pipelined with an interval that is none, and unrolled by too few factors; a name is a number."""

import allo
from allo.ir.types import int32


def kernel(A: int32[4, 4]):
    for i, j in allo.grid(4, 4, pipeline=-1):
        A[i, j] = 0
    for i, j in allo.grid(4, 4, unroll=[2]):
        A[i, j] = 0
    for i, j in allo.grid(4, 4, name=3):
        A[i, j] = 0
