"""A region is given a stream of other elements."""

import allo.dataflow as df
from allo.ir.types import Stream, int16, int32


@df.region()
def inner(s: Stream[int16, 4]):
    @df.task(args=[s])
    def source(s: Stream[int16, 4]):
        s.put(1)


@df.region()
def kernel():
    s: Stream[int32, 4]

    @df.task()
    def outer():
        inner(s)

    @df.task()
    def sink():
        s.get()
