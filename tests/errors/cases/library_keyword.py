"""A keyword with a typo, and one that is not even near."""

import allo
from allo.ir.types import float32


def kernel(A: float32[4, 4], B: float32[8, 4]):
    B[:] = allo.concat(A, A, axs=0)
    B[:] = allo.concat(A, A, where=0)
