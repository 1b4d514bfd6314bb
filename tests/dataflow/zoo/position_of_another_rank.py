"""A task on a line asks for a position in a plane."""

import allo.dataflow as df
from allo.ir.types import int32


@df.region()
def kernel(A: int32[4]):
    @df.task(mapping=[4], args=[A])
    def line(A: int32[4]):
        i, j = df.get_pid()
        A[i] = j
