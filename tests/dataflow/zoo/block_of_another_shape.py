"""A block of five elements is put into a stream of blocks of four."""

import allo.dataflow as df
from allo.ir.types import Stream, int32


@df.region()
def kernel():
    s: Stream[int32[4], 2]

    @df.task()
    def source():
        row: int32[5] = 0
        s.put(row)

    @df.task()
    def sink():
        s.get()
