"""Two tasks get from one stream."""

import allo.dataflow as df
from allo.ir.types import Stream, int32

N = 4


@df.region()
def kernel():
    s: Stream[int32, 4]

    @df.task()
    def source():
        for i in range(2 * N):
            s.put(i)

    @df.task()
    def left():
        for _i in range(N):
            s.get()

    @df.task()
    def right():
        for _i in range(N):
            s.get()
