"""A constant array is given to a kernel that writes it."""

import numpy as np

from allo.ir.types import int32

TABLE = np.array([1, 2, 3, 4], dtype=np.int32)


def inner(B: int32[4]):
    B[0] += 1


def other(B: int32[4]):
    inner(B)


def kernel(A: int32[4]):
    other(TABLE)
    A[0] = TABLE[0]
