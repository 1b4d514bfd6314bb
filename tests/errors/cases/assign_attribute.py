"""An attribute is assigned."""

from allo.ir.types import int32


def kernel(A: int32[4]):
    A.size = 3
