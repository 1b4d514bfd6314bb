"""A plane of streams is used with one subscript."""

import allo.dataflow as df
from allo.ir.types import Stream, int32


@df.region()
def kernel():
    s: Stream[int32, 4][2, 2]

    @df.task(mapping=[2])
    def line():
        p = df.get_pid()
        s[p].put(p)
