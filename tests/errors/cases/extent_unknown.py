"""An extent is misspelt."""

from allo.ir.types import int32

COLUMNS = 4


def kernel(A: int32[4]):
    B: int32[COLUMS] = 1
    A[0] = 1
