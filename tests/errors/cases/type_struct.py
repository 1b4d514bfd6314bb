"""A struct is no type of kernels yet."""

from allo.ir.types import Struct, int32

PAIR = Struct({"x": int32, "y": int32})


def kernel(A: int32[4], p: PAIR):
    A[0] = 1
