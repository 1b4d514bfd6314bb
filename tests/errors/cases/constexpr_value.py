"""A compile-time constant has no value."""

from allo.ir.types import ConstExpr, int32


def kernel(A: int32[4]):
    n: ConstExpr[int32]
    A[0] = n
