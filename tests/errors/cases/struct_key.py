"""The fields of a struct are names."""

from allo.ir.types import Fixed, Struct, int32

PAIR = Struct({"x": int32, "w": Fixed(8, 4)})


def kernel(n: int32):
    p: PAIR = {n: 1, "w": 0.5}
