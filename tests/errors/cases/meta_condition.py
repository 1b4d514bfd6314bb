"""The condition of meta_if is known at run time only."""

import allo
from allo.ir.types import int32


def kernel(A: int32[4], n: int32):
    with allo.meta_if(n > 2):
        A[0] = 1
