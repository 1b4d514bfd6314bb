"""Figure 5 (right) of the Dato paper: twice as many puts as gets."""

import allo.dataflow as df
from allo.ir.types import Stream, int32

N = 4


@df.region()
def kernel():
    s: Stream[int32, N]; a = 0  # fmt: skip

    @df.task()
    def func0():
        for i in range(N):
            s.put(a)
            s.put(a)

    @df.task()
    def func1():
        for i in range(N):
            b = s.get()
