"""Each of three tasks waits for the one before it."""

import allo.dataflow as df
from allo.ir.types import Stream, int32

N = 8


@df.region()
def kernel():
    ab: Stream[int32, 4]
    bc: Stream[int32, 4]
    ca: Stream[int32, 4]

    @df.task()
    def a():
        for _i in range(N):
            ab.put(ca.get())

    @df.task()
    def b():
        for _i in range(N):
            bc.put(ab.get())

    @df.task()
    def c():
        for _i in range(N):
            ca.put(bc.get())
