"""The text of an annotation is no expression."""

from allo.ir.types import int32


def kernel(A: "int32[4"):
    A[0] = 1
