"""Nobody takes anything out of a stream."""

import allo.dataflow as df
from allo.ir.types import Stream, int32


@df.region()
def kernel():
    s: Stream[int32, 4]

    @df.task()
    def source():
        s.put(1)
