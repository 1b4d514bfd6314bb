"""Figure 5 (right) of the Dato paper: twice as many puts as gets."""

import allo.dataflow as df
from allo.ir.types import Stream, int32

N = 4


@df.region()
def kernel():
    s: Stream[int32, N]

    @df.task()
    def func0():
        for i in range(N):
            s.put(i)
            s.put(i)

    @df.task()
    def func1():
        for _i in range(N):
            s.get()
