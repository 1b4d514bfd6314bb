"""A struct does not become a number."""

from allo.ir.types import Fixed, Struct, int32

PAIR = Struct({"x": int32, "w": Fixed(8, 4)})


def kernel(p: PAIR) -> int32:
    n: int32 = p
    return int(p)
