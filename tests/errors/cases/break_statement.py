"""A loop is left early."""

from allo.ir.types import int32


def kernel(A: int32[4]):
    for i in range(4):
        if A[i] == 0:
            break
