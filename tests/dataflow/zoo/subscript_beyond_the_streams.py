"""The last position puts into a stream that is not there."""

import allo.dataflow as df
from allo.ir.types import Stream, int32


@df.region()
def kernel():
    s: Stream[int32, 4][4]

    @df.task(mapping=[4])
    def line():
        p = df.get_pid()
        s[p + 1].put(p)

    @df.task(mapping=[4])
    def sink():
        p = df.get_pid()
        s[p].get()
