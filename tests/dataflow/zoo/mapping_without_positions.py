"""A grid of no positions."""

import allo.dataflow as df
from allo.ir.types import int32


@df.region()
def kernel(A: int32[4]):
    @df.task(mapping=[2, 0], args=[A])
    def nobody(A: int32[4]):
        A[0] = 1
