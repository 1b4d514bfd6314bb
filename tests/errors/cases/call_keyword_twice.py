"""An argument is given by place and by name."""

from allo.ir.types import int32


def other(B: int32[4], x: int32):
    B[0] = x


def kernel(A: int32[4]):
    other(A, 1, B=A)
