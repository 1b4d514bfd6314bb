"""A kernel that a task calls puts once more than the other task gets."""

import allo.dataflow as df
from allo.ir.types import Stream, int32

N = 4


def fill(s: Stream[int32, 4]):
    for i in range(N):
        s.put(i)


@df.region()
def kernel():
    s: Stream[int32, 4]

    @df.task()
    def source():
        fill(s)
        s.put(0)

    @df.task()
    def sink():
        for _i in range(N):
            s.get()
