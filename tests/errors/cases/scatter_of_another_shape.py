"""The array has not one element for each stream."""

import allo
import allo.dataflow as df
from allo.ir.types import int32, Stream
from allo.memory import Layout

S, R = Layout.Shard, Layout.Replicate


@df.region()
def kernel(A: int32[3], C: int32[4]):
    fifo: Stream[int32, 2][4]

    @df.kernel(mapping=[1], args=[A, C])
    def task(A: int32[3], C: int32[4]):
        df.scatter(A, fifo)
