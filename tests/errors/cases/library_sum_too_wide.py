"""A sum of more than 1024 bits."""

import allo
from allo.ir.types import int32, int512


def kernel(A: int512[4, 4]) -> int32[4, 4]:
    C = A @ A
    B: int32[4, 4] = C
    return B
