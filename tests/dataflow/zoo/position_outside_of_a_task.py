"""A region asks for its position."""

import allo.dataflow as df
from allo.ir.types import int32


@df.region()
def kernel(A: int32[4]):
    i = df.get_pid()

    @df.task(args=[A])
    def line(A: int32[4]):
        A[0] = 1
