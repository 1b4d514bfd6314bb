"""Two arguments of a call may be the same elements, of which it writes some."""

from allo.ir.types import int32


def add(X: int32[2], Y: int32[2]):
    for i in range(2):
        X[i] += Y[i]


def first(X: int32[6], Y: int32[2]):
    X[0] = Y[0]


def kernel(A: int32[6], n: int32, m: int32):
    add(A[0:2], A[1:3])
    add(A[n : n + 2], A[m : m + 2])
    first(A, A[2:4])
