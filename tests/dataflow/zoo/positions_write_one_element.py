"""All positions write the same element of an argument."""

import allo.dataflow as df
from allo.ir.types import int32


@df.region()
def kernel(A: int32[4]):
    @df.task(mapping=[4], args=[A])
    def last(A: int32[4]):
        p = df.get_tid()
        A[0] = p
