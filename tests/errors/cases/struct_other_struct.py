"""Structs of different types do not become each other."""

from allo.ir.types import Fixed, Struct, int32

PAIR = Struct({"x": int32, "w": Fixed(8, 4)})

OTHER = Struct({"x": int32, "w": Fixed(8, 5)})


def kernel(p: PAIR, q: OTHER, ps: PAIR[4], qs: OTHER[4]):
    p = q
    ps = qs
    rs: PAIR[4] = qs
    ps[1:] = qs[1:]
