"""Operators work on the fields of structs."""

from allo.ir.types import Fixed, Struct, int32

PAIR = Struct({"x": int32, "w": Fixed(8, 4)})


def kernel(p: PAIR, q: PAIR):
    a = p + q
    p += 1
    b = -p
