"""An integer is raised to a variable."""

from allo.ir.types import int32


def kernel(A: int32[4]):
    A[0] = A[1] ** A[2]
