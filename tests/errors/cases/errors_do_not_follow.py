"""What depends on a wrong line is not reported."""

from allo.ir.types import int32


def kernel(A: int32[4]):
    x: Strange = 1
    y = x + 1
    A[0] = x * y
