"""The consumer waits for what nobody puts."""

import allo.dataflow as df
from allo.ir.types import Stream, int32

N = 4


@df.region()
def kernel():
    s: Stream[int32, 4]

    @df.task()
    def func0():
        for i in range(N):
            s.put(i)

    @df.task()
    def func1():
        for _i in range(N + 1):
            s.get()
