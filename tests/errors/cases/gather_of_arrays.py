"""What is gathered are streams."""

import allo
import allo.dataflow as df
from allo.ir.types import int32
from allo.memory import Layout

S, R = Layout.Shard, Layout.Replicate


@df.region()
def kernel(A: int32[4], C: int32[4]):
    @df.kernel(mapping=[1], args=[A, C])
    def task(A: int32[4], C: int32[4]):
        x = df.gather([A[i] for i in range(4)])
