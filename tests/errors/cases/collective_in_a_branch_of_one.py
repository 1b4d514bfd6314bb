"""Only one position comes to it."""

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
        with allo.meta_if(p == 1):
            C[0] = allo.allreduce(A[p], axis=0)
