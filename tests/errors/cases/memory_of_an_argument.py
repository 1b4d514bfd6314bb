"""An argument that is a scalar is given a memory."""

from allo.ir.types import int32
from allo.memory import Memory

URAM = Memory(resource="URAM")


def kernel(A: int32[4], x: "int32 @ URAM"):
    A[0] = x
