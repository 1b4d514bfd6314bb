"""Two tasks put into one stream."""

import allo.dataflow as df
from allo.ir.types import Stream, int32

N = 4


@df.region()
def kernel():
    s: Stream[int32, 4]

    @df.task()
    def left():
        for i in range(N):
            s.put(i)

    @df.task()
    def right():
        for i in range(N):
            s.put(-i)

    @df.task()
    def both():
        for _i in range(2 * N):
            s.get()
