"""The grid has as many positions as an argument says."""

import allo.dataflow as df
from allo.ir.types import int32


@df.region()
def kernel(n: int32, A: int32[4]):
    @df.task(mapping=[n], args=[A])
    def some(A: int32[4]):
        A[0] = 1
