"""The rest of a loop body is skipped."""

from allo.ir.types import int32


def kernel(A: int32[4]):
    for i in range(4):
        if A[i] == 0:
            continue
        A[i] = 1
