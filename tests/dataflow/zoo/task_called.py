"""A task is called like a function."""

import allo.dataflow as df
from allo.ir.types import int32


@df.region()
def kernel(A: int32[4]):
    @df.task(args=[A])
    def clear(A: int32[4]):
        A[0] = 0

    clear(A)
