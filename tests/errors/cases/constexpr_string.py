"""A compile-time value is not of the declared type."""

from allo.ir.types import ConstExpr, int32


def kernel(A: int32[4]):
    x: ConstExpr[int32] = "abc"
    y: ConstExpr[int32] = [1, 2]
    z: ConstExpr[int32[3]] = [1, 2]
    w: ConstExpr[int32[2]] = ["a", "b"]
    A[0] = x + y + z[0] + w[0]
