"""A dict gives the fields of a struct, and nothing else."""

from allo.ir.types import Fixed, Struct, int32

PAIR = Struct({"x": int32, "w": Fixed(8, 4)})


def kernel(p: PAIR):
    p.x = {"x": 1}
    n: int32 = {"x": 1}
