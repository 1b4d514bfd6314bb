"""Every third iteration puts, every second one gets."""

import allo.dataflow as df
from allo.ir.types import Stream, int32


@df.region()
def kernel():
    s: Stream[int32, 4]

    @df.task()
    def source():
        for i in range(0, 10, 3):
            s.put(i)

    @df.task()
    def sink():
        for i in range(10):
            if i % 2 == 0:
                s.get()
