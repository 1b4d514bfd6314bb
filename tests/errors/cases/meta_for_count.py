"""meta_for has too many bounds."""

import allo
from allo.ir.types import int32


def kernel(A: int32[4]):
    with allo.meta_for(1, 2, 3, 4) as i:
        A[i] = 1
