"""Figure 5 (left) of the Dato paper: each task waits for the other one."""

import allo.dataflow as df
from allo.ir.types import Stream, int32

N = 4


@df.region()
def kernel():
    sAB: Stream[int32, N]
    sBA: Stream[int32, N]

    @df.task()
    def func0():
        for _i in range(N):
            a = sBA.get()
            sAB.put(a)

    @df.task()
    def func1():
        for _i in range(N):
            b = sAB.get()
            sBA.put(b)
