"""A type is no attribute of its module."""

from allo.ir import types
from allo.ir.types import int32


def kernel(A: int32[4]):
    x: types.int3200 = 1
    A[0] = 1
