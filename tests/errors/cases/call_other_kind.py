"""A value that is no function is called."""

import numpy as np

from allo.ir.types import int32

TABLE = np.array([1, 2, 3])


def kernel(A: int32[4]):
    A[0] = TABLE(1)
