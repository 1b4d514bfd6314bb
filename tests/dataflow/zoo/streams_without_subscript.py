"""An array of streams is used as if it were one."""

import allo.dataflow as df
from allo.ir.types import Stream, int32


@df.region()
def kernel():
    s: Stream[int32, 4][2]

    @df.task()
    def line():
        s.put(1)
