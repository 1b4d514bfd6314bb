"""A field of a value that is no variable cannot be assigned."""

from allo.ir.types import Fixed, Struct, int32

PAIR = Struct({"x": int32, "w": Fixed(8, 4)})


def kernel(n: int32):
    PAIR(x=1, w=0.5).x = n
