"""A `while` has an else."""

from allo.ir.types import int32


def kernel(A: int32[4]):
    while A[0] > 0:
        A[0] -= 1
    else:
        A[1] = 2
