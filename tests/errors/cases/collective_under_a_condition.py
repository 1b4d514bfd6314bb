"""Values decide whether a position comes to it."""

import allo
import allo.dataflow as df
from allo.ir.types import int32
from allo.memory import Layout

S, R = Layout.Shard, Layout.Replicate


@df.region()
def kernel(A: int32[4], C: int32[4]):
    @df.kernel(mapping=[4], args=[A, C])
    def task(A: int32[4], C: int32[4]):
        p = df.get_pid()
        if A[p] > 0:
            C[p] = allo.allreduce(A[p], axis=0)
