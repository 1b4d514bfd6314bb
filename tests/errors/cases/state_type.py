"""A variable of a type without place in memory is to keep its value."""

from allo.ir.types import Fixed, Stateful, int32


def kernel(A: int32[4]):
    n: Stateful[Fixed(8, 2)] = 1.5
    A[0] = n
