"""A NumPy type stands for a type."""

import numpy as np

from allo.ir.types import int32


def kernel(A: int32[4]):
    x: np.float32 = 1.5
    A[0] = 1
