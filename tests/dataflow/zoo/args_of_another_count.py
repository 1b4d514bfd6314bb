"""`args` lists more than the task has parameters."""

import allo.dataflow as df
from allo.ir.types import int32


@df.region()
def kernel(A: int32[4], B: int32[4]):
    @df.task(args=[A, B])
    def copy(A: int32[4]):
        A[0] = 1
