"""A state starts with a value of its type."""

from allo.ir.types import Fixed, Stateful, Struct, int32

PAIR = Struct({"x": int32, "w": Fixed(8, 4)})


def kernel(n: int32):
    p: Stateful[PAIR] = {"x": 1}
    a: Stateful[Fixed(8, 4)] = "abc"
