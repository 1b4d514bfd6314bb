"""Five rows are cut into two parts."""

import allo.dataflow as df
from allo.ir.types import int32
from allo.memory import Layout

S, R = Layout.Shard, Layout.Replicate


@df.region()
def kernel(A: int32[5, 4]):
    @df.task(mapping=[2], args=[A])
    def clear(A: int32[5, 4] @ [S(0), R]):
        A[:, :] = 0
