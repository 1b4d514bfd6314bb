"""Positions put into streams two apart, and meet in one."""

import allo.dataflow as df
from allo.ir.types import Stream, int32


@df.region()
def kernel():
    s: Stream[int32, 4][8]

    @df.task(mapping=[3])
    def source():
        p = df.get_pid()
        for k in range(4):
            s[2 * p + k].put(k)

    @df.task(mapping=[8])
    def sink():
        p = df.get_pid()
        s[p].get()
