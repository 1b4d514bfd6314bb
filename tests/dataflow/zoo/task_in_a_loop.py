"""A task is defined in a loop, instead of having positions."""

import allo.dataflow as df
from allo.ir.types import int32


@df.region()
def kernel(A: int32[4]):
    for i in range(4):

        @df.task(args=[A])
        def some(A: int32[4]):
            A[i] = 1
