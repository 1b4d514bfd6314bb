"""A bound of meta_for is a float."""

import allo
from allo.ir.types import int32


def kernel(A: int32[4]):
    with allo.meta_for(1.5) as i:
        A[i] = 1
