"""A scalar is given a memory."""

from allo.ir.types import int32
from allo.memory import Memory


def kernel(A: int32[4]):
    x: int32 @ Memory(resource="URAM") = 0
    A[0] = x
