"""The caret counts letters, not bytes."""

from allo.ir.types import int32


def kernel(A: int32[4]):
    größe: int32 = 3
    A[0] = größe + anderes
