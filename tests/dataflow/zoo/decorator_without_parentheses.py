"""The decorator of a task is not called."""

import allo.dataflow as df
from allo.ir.types import int32


@df.region()
def kernel(A: int32[4]):
    @df.task
    def clear(A: int32[4]):
        A[0] = 0
