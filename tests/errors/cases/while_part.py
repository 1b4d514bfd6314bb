"""The condition of a loop calls a kernel on a part of an array."""

from allo.ir.types import int32


def total(X: int32[2]) -> int32:
    return X[0] + X[1]


def kernel(A: int32[4]):
    while total(A[0:2]) < 10:
        A[0] += 1
