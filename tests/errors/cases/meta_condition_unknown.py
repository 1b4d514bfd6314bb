"""A name in the condition of meta_if is not defined."""

import allo
from allo.ir.types import int32


def kernel(A: int32[4]):
    with allo.meta_if(missing > 2):
        A[0] = 1
