"""The fields of a struct are given by name."""

from allo.ir.types import Fixed, Struct, int32

PAIR = Struct({"x": int32, "w": Fixed(8, 4)})


def kernel(n: int32):
    p = PAIR(n, 0.5)
