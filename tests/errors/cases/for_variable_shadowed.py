"""An inner loop takes the variable of an outer loop."""

from allo.ir.types import int32


def kernel(A: int32[4]):
    for i in range(4):
        for i in range(2):
            A[i] = 1
