"""meta_if has no condition."""

import allo
from allo.ir.types import int32


def kernel(A: int32[4]):
    with allo.meta_if():
        A[0] = 1
