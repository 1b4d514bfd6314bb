"""An argument by name is not one of the kernel."""

from allo.ir.types import int32


def other(value: int32[4]):
    value[0] = 1


def kernel(A: int32[4]):
    other(values=A)
