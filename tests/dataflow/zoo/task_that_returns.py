"""A task returns a value."""

import allo.dataflow as df
from allo.ir.types import int32


@df.region()
def kernel(A: int32[4]):
    @df.task(args=[A])
    def first(A: int32[4]) -> int32:
        return A[0]
