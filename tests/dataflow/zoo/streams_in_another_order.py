"""All of one stream is put before the other one, and taken in turn."""

import allo.dataflow as df
from allo.ir.types import Stream, int32

N = 8


@df.region()
def kernel():
    first: Stream[int32, 4]
    second: Stream[int32, 4]

    @df.task()
    def source():
        for i in range(N):
            first.put(i)
        for i in range(N):
            second.put(i)

    @df.task()
    def sink():
        for _i in range(N):
            first.get()
            second.get()



def provoke():
    df.customize(kernel).build(target="vhls")
