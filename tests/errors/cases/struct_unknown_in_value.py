"""A value of a struct has no other fields."""

from allo.ir.types import Fixed, Struct, int32

PAIR = Struct({"x": int32, "w": Fixed(8, 4)})


def kernel(n: int32):
    p = PAIR(x=n, w=0.5, z=1)
