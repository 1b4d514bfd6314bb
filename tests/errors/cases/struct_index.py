"""A struct is no subscript."""

from allo.ir.types import Fixed, Struct, int32

PAIR = Struct({"x": int32, "w": Fixed(8, 4)})


def kernel(p: PAIR, A: int32[4]):
    A[p] = 1
    p[0] = 1
