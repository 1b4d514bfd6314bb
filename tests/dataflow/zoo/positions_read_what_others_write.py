"""A position reads the element that its neighbour writes."""

import allo.dataflow as df
from allo.ir.types import int32


@df.region()
def kernel(A: int32[4]):
    @df.task(mapping=[3], args=[A])
    def shift(A: int32[4]):
        p = df.get_tid()
        A[p] = A[p + 1]
