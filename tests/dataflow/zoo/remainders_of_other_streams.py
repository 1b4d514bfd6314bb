"""The consumer takes turns over three streams, the producer over two."""

import allo.dataflow as df
from allo.ir.types import Stream, int32


@df.region()
def kernel():
    s: Stream[int32, 4][3]

    @df.task()
    def source():
        for i in range(6):
            s[i % 2].put(i)

    @df.task()
    def sink():
        for i in range(6):
            s[i % 3].get()
