"""The bounds of meta_for, and a condition, depend on arguments."""

import allo
from allo.ir.types import int32


def kernel(A: int32[4], n: int32):
    with allo.meta_for(n) as i:
        A[i] = 1
    with allo.meta_if(n > 2):
        A[0] = 1
    with allo.meta_elif(A[0] > 2):
        A[0] = 1
