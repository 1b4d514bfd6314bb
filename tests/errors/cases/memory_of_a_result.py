"""The result of a call is given a memory."""

from allo.ir.types import int32
from allo.memory import Memory


def make(A: int32[4]) -> int32[4]:
    B: int32[4] = 0
    B[0] = A[0]
    return B


def kernel(A: int32[4]) -> int32[4]:
    C: int32[4] @ Memory(resource="URAM") = make(A)
    return C
