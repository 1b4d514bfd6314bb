"""A task uses a stream that another task has made."""

import allo.dataflow as df
from allo.ir.types import Stream, int32


@df.region()
def kernel():
    @df.task()
    def source():
        s: Stream[int32, 4]
        s.put(1)

    @df.task()
    def sink():
        s.get()
