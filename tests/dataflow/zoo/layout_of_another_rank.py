"""A layout for a matrix is given to a vector."""

import allo.dataflow as df
from allo.ir.types import int32
from allo.memory import Layout

S, R = Layout.Shard, Layout.Replicate


@df.region()
def kernel(A: int32[4]):
    @df.task(mapping=[2], args=[A])
    def clear(A: int32[4] @ [S(0), R]):
        A[:] = 0
