"""The region puts into a stream outside of its tasks, which begin when all has been put."""

import allo.dataflow as df
from allo.ir.types import Stream, int32


@df.region()
def kernel():
    s: Stream[int32, 2]

    for i in range(4):
        s.put(i)

    @df.task()
    def sink():
        for _i in range(3):
            s.get()
