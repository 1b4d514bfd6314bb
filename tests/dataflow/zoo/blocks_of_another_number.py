"""Five blocks are put, four are taken."""

import allo.dataflow as df
from allo.ir.types import Stream, int32


@df.region()
def kernel():
    s: Stream[int32[4], 2]

    @df.task()
    def source():
        row: int32[4] = 0
        for _i in range(5):
            s.put(row)

    @df.task()
    def sink():
        for _i in range(4):
            s.get()
