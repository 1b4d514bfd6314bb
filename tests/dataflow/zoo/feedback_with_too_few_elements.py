"""Two elements are taken an iteration, and only one is there to begin with."""

import allo.dataflow as df
from allo.ir.types import Stream, int32

N = 8


@df.region()
def kernel():
    there: Stream[int32, 4]
    back: Stream[int32, 4]

    @df.task()
    def one():
        for _i in range(N):
            there.put(back.get() + back.get())

    @df.task()
    def other():
        back.put(0)
        for _i in range(N):
            x: int32 = there.get()
            back.put(x)
            back.put(x)
