"""Fields belong to elements, not to whole arrays."""

from allo.ir.types import Fixed, Struct, int32

PAIR = Struct({"x": int32, "w": Fixed(8, 4)})


def kernel(ps: PAIR[4]):
    ps.x = 1
