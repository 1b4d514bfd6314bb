"""A task reads a variable of the region."""

import allo.dataflow as df
from allo.ir.types import int32


@df.region()
def kernel(A: int32[4]):
    count: int32 = A[1]

    @df.task(args=[A])
    def one(A: int32[4]):
        A[0] = count
