"""A NumPy array of the program holds no numbers."""

import numpy as np

from allo.ir.types import int32

NAMES = np.array(["a", "b"])


def kernel(A: int32[4]):
    A[0] = NAMES[1]
