"""A call gives fewer results than are declared to be returned."""

from allo.ir.types import int32


def divided(a: int32, b: int32) -> (int32, int32):
    return a // b, a % b


def kernel(a: int32, b: int32) -> (int32, int32, int32):
    return divided(a, b)
