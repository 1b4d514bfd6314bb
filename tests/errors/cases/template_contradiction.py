"""Two arguments of a template say different things of its parameter."""

from allo.ir.types import float32, index, int32


def add[T, N: index](X: "T[N]", Y: "T[N]"):
    X += Y


def kernel(A: int32[4], B: float32[4], C: int32[5]):
    add(A, B)
    add(A, C)
