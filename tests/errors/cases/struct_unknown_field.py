"""A misspelt field, read and written."""

from allo.ir.types import Fixed, Struct, int32

PAIR = Struct({"x": int32, "w": Fixed(8, 4)})


def kernel(p: PAIR) -> int32:
    p.xx = 1
    return p.weight
