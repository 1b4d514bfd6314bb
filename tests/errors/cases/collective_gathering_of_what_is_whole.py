"""Each position has all of it."""

import allo
import allo.dataflow as df
from allo.ir.types import int32
from allo.memory import Layout

S, R = Layout.Shard, Layout.Replicate


@df.region()
def kernel(A: int32[4, 4], C: int32[8, 4]):
    @df.kernel(mapping=[2, 2], args=[A, C])
    def task(A: int32[4, 4] @ [R, S(0)], C: int32[8, 4]):
        x = allo.all_gather(A)
