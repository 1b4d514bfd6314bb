"""A stream that holds nothing."""

import allo.dataflow as df
from allo.ir.types import Stream, int32


@df.region()
def kernel():
    s: Stream[int32, 0]

    @df.task()
    def source():
        s.put(1)

    @df.task()
    def sink():
        s.get()
