"""What is counted does not depend on how long it would take."""

import allo.dataflow as df
from allo.ir.types import Stream, int32

MANY = 1_000_000


@df.region()
def kernel():
    s: Stream[int32, 4]
    t: Stream[int32, 4]

    @df.task()
    def source():
        for i in range(MANY):
            s.put(i)
            t.put(i)
            t.put(i)

    @df.task()
    def sink():
        for i in range(MANY):
            s.get()
            t.get()
