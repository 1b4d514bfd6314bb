"""Each position runs the loop another number of times."""

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
        for i in range(p):
            C[i] = allo.allreduce(A[i], axis=0)
