"""The consumer takes from both streams in turn, the producer fills one for half of the time."""

import allo.dataflow as df
from allo.ir.types import Stream, int32

N = 8


@df.region()
def kernel():
    s: Stream[int32, 4][2]

    @df.task()
    def source():
        for i in range(N):
            s[i // 6].put(i)

    @df.task()
    def sink():
        for i in range(N):
            s[i % 2].get()
