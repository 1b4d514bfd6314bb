"""A loop runs over an array of the program that is called."""

import numpy as np

from allo.ir.types import int32

TABLE = np.array([1, 2, 3])


def kernel(A: int32[4]):
    for i in TABLE(3):
        A[i] = 1
