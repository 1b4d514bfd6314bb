"""`args` holds an expression."""

import allo.dataflow as df
from allo.ir.types import int32


@df.region()
def kernel(A: int32[4]):
    @df.task(args=[A[0]])
    def clear(A: int32[4]):
        A[0] = 0
