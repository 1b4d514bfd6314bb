"""A layout has one letter a dimension."""

import allo
import allo.dataflow as df
from allo.ir.types import int32
from allo.memory import Layout

S, R = Layout.Shard, Layout.Replicate


@df.region()
def kernel(A: int32[4, 4], C: int32[4]):
    @df.kernel(mapping=[2], args=[A, C])
    def task(A: int32[4, 4] @ Layout("S"), C: int32[4]):
        C[0] = A[0, 0]
