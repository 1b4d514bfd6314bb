"""A list has the shape of the array."""

from allo.ir.types import Fixed, Struct, int32

PAIR = Struct({"x": int32, "w": Fixed(8, 4)})


def kernel(n: int32):
    ps: PAIR[2] = [{"x": 1, "w": 0.5}]
