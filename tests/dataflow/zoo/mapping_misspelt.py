"""A keyword of the decorator is misspelt."""

import allo.dataflow as df
from allo.ir.types import int32


@df.region()
def kernel(A: int32[4]):
    @df.task(maping=[2], args=[A])
    def some(A: int32[4]):
        A[0] = 1
