"""The comparison has too many bits."""

from allo.ir.types import Int, UInt, int32  # noqa: F401


def kernel(A: int32[4], x: "Int(1024)", y: "UInt(1024)"):
    A[0] = x < y
