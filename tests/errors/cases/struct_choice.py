"""A number and a struct have no common type."""

from allo.ir.types import Fixed, Struct, int32

PAIR = Struct({"x": int32, "w": Fixed(8, 4)})


def kernel(p: PAIR, n: int32):
    a = p if n > 0 else n
