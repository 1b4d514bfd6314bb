"""A struct is no condition."""

from allo.ir.types import Fixed, Struct, int32

PAIR = Struct({"x": int32, "w": Fixed(8, 4)})


def kernel(p: PAIR, n: int32):
    if p:
        n = 1
    while not p:
        n = 2
