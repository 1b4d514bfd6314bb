"""A whole array is put into a stream of scalars."""

import allo.dataflow as df
from allo.ir.types import Stream, int32


@df.region()
def kernel():
    s: Stream[int32, 4]

    @df.task()
    def source():
        row: int32[4] = 0
        s.put(row)

    @df.task()
    def sink():
        for _i in range(4):
            s.get()
