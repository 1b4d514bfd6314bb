"""An array outside of the kernel with a number that the assigned type does not hold."""

import numpy as np

from allo.ir.types import int8

WEIGHTS = np.array([[1, 2], [300, 4]])


def kernel(A: int8[2, 2]):
    A[:] = WEIGHTS
