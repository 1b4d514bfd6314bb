"""The condition of meta_if is an array."""

import numpy as np

import allo
from allo.ir.types import int32

TABLE = np.array([1, 2])


def kernel(A: int32[4]):
    with allo.meta_if(TABLE > 1):
        A[0] = 1
