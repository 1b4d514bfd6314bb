"""A dict in a dict is not spread over the fields."""

from allo.ir.types import Fixed, Struct, int32

PAIR = Struct({"x": int32, "w": Fixed(8, 4)})


def kernel(q: PAIR):
    p: PAIR = {**q}
