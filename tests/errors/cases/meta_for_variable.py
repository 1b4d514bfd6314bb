"""The variable of meta_for is no name."""

import allo
from allo.ir.types import int32


def kernel(A: int32[4]):
    with allo.meta_for(4) as (i, j):
        A[0] = 1
