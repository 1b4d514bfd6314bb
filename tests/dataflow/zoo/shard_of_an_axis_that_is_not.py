"""A dimension is cut along an axis that the grid does not have."""

import allo.dataflow as df
from allo.ir.types import int32
from allo.memory import Layout

S, R = Layout.Shard, Layout.Replicate


@df.region()
def kernel(A: int32[4, 4]):
    @df.task(mapping=[2], args=[A])
    def clear(A: int32[4, 4] @ [R, S(1)]):
        A[:, :] = 0
