"""The task takes an array of another shape than the region has."""

import allo.dataflow as df
from allo.ir.types import int32


@df.region()
def kernel(A: int32[4]):
    @df.task(args=[A])
    def clear(A: int32[8]):
        for i in range(8):
            A[i] = 0
