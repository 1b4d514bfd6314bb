"""A number does not become a struct."""

from allo.ir.types import Fixed, Struct, int32

PAIR = Struct({"x": int32, "w": Fixed(8, 4)})


def kernel(p: PAIR, ps: PAIR[4]):
    p = 1
    ps[0] = 2.5
    qs: PAIR[4] = 0
