"""The module of a constant is misspelt."""

import math  # noqa: F401

from allo.ir.types import int32


def kernel(A: int32[4]):
    A[0] = maths.pi
