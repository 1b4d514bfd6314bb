"""The short way around a stage that keeps four elements holds too few."""

import allo.dataflow as df
from allo.ir.types import Stream, int32

N = 8


@df.region()
def kernel():
    long: Stream[int32, 2]
    short: Stream[int32, 2]
    staged: Stream[int32, 2]

    @df.task()
    def fork():
        for i in range(N):
            long.put(i)
            short.put(i)

    @df.task()
    def stage():
        for _i in range(N // 4):
            x: int32 = 0
            for _j in range(4):
                x += long.get()
            for _j in range(4):
                staged.put(x)

    @df.task()
    def join():
        for _i in range(N):
            staged.get()
            short.get()



def provoke():
    df.customize(kernel).build(target="vhls")
