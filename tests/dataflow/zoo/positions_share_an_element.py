"""Positions p and p + 2 put into one FIFO of an array."""

import allo.dataflow as df
from allo.ir.types import Stream, int32


@df.region()
def kernel():
    s: Stream[int32, 4][2]

    @df.task(mapping=[4])
    def many():
        p = df.get_tid()
        s[p % 2].put(p)

    @df.task(mapping=[2])
    def two():
        p = df.get_tid()
        for _i in range(2):
            s[p].get()
