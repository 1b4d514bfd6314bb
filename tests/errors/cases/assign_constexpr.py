"""A constant is assigned."""

from allo.ir.types import ConstExpr, int32


def kernel(A: int32[4]):
    n: ConstExpr[int32] = 4
    n = 5
    A[0] = n
