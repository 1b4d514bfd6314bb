"""The depth that would do is known however many elements there are."""

import allo.dataflow as df
from allo.ir.types import Stream, int32

MANY = 1_000_000


@df.region()
def kernel():
    first: Stream[int32, 4]
    second: Stream[int32, 4]

    @df.task()
    def source():
        for i in range(MANY):
            first.put(i)
            second.put(i)

    @df.task()
    def sink():
        for _i in range(MANY):
            first.get()
        for _i in range(MANY):
            second.get()



def provoke():
    df.customize(kernel).build(target="vhls")
