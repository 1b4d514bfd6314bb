"""meta_else does not follow meta_if."""

import allo
from allo.ir.types import int32


def kernel(A: int32[4]):
    A[0] = 1
    with allo.meta_else():
        A[0] = 2
