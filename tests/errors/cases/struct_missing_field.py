"""A value of a struct has all fields."""

from allo.ir.types import Fixed, Struct, int32

PAIR = Struct({"x": int32, "w": Fixed(8, 4)})


def kernel(n: int32):
    p: PAIR = {"x": n}
    q = PAIR(w=0.5)
