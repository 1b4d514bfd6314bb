"""The numbers of a list fit the type of the array."""

from allo.ir.types import Fixed, Struct, UInt, int32

PAIR = Struct({"x": int32, "w": Fixed(8, 4)})


def kernel(p: PAIR):
    A: UInt(100)[2] = [1, -1]
