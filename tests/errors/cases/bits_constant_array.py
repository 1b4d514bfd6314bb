"""Bits of a constant array are assigned."""

import numpy as np

from allo.ir.types import int32

TABLE = np.array([1, 2, 3], dtype=np.int32)


def kernel(A: int32[4]):
    TABLE[0][1] = 1
