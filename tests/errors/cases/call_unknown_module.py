"""The module of a function is misspelt."""

import allo  # noqa: F401
from allo.ir.types import int32


def kernel(A: int32[4]):
    A[0] = alo.exp(1.5)
