"""The annotations are texts, and the function whose variable they name has returned."""

from __future__ import annotations

from allo.ir.types import int32


def made(element, width):
    def kernel(A: element[width]):
        B: int32[width] = 0
        A[0] = B[0]

    return kernel


kernel = made(int32, 4)
