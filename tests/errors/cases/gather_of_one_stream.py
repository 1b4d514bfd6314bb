"""One stream is got from."""

import allo
import allo.dataflow as df
from allo.ir.types import int32, Stream
from allo.memory import Layout

S, R = Layout.Shard, Layout.Replicate


@df.region()
def kernel(A: int32[4], C: int32[4]):
    fifo: Stream[int32, 2][4]

    @df.kernel(mapping=[1], args=[A, C])
    def task(A: int32[4], C: int32[4]):
        x = df.gather(fifo[0])
