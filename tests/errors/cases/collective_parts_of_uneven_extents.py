"""Seven elements are no four equal parts."""

import allo
import allo.dataflow as df
from allo.ir.types import int32
from allo.memory import Layout

S, R = Layout.Shard, Layout.Replicate


@df.region()
def kernel(A: int32[7], C: int32[4]):
    @df.kernel(mapping=[4], args=[A, C])
    def task(A: int32[7], C: int32[4]):
        x = allo.reduce_scatter(A, axis=0)
