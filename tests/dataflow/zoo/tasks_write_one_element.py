"""Two tasks write the same element of an argument."""

import allo.dataflow as df
from allo.ir.types import int32


@df.region()
def kernel(A: int32[4]):
    @df.task(mapping=[1], args=[A])
    def one(A: int32[4]):
        for i in range(3):
            A[i] = i

    @df.task(mapping=[1], args=[A])
    def two(A: int32[4]):
        for i in range(2, 4):
            A[i] = -i
