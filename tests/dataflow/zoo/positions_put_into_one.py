"""All positions of a grid put into one stream."""

import allo.dataflow as df
from allo.ir.types import Stream, int32


@df.region()
def kernel():
    s: Stream[int32, 4]

    @df.task(mapping=[4])
    def many():
        p = df.get_tid()
        s.put(p)

    @df.task()
    def one():
        for _i in range(4):
            s.get()
