"""The values of an array of structs are dicts with all fields."""

from allo.ir.types import Fixed, Struct, int32

PAIR = Struct({"x": int32, "w": Fixed(8, 4)})


def kernel(n: int32):
    ps: PAIR[2] = [1, 2]
    qs: PAIR[2] = [{"x": 1}, {"x": 2}]
