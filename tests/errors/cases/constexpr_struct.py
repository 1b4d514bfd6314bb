"""ConstExpr is for numbers and for arrays that NumPy has."""

from allo.ir.types import ConstExpr, Fixed, int32


def kernel(n: int32):
    p: ConstExpr[Fixed(8, 4)[2]] = [0.5, 1]
