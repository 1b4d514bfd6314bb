"""A put has nothing to put."""

import allo.dataflow as df
from allo.ir.types import Stream, int32


@df.region()
def kernel():
    s: Stream[int32, 4]

    @df.task()
    def source():
        s.put()

    @df.task()
    def sink():
        s.get()
