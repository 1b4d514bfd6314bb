"""A loop has changed the array, so that its layout is not known."""

import allo
import allo.dataflow as df
from allo.ir.types import int32
from allo.memory import Layout

S, R = Layout.Shard, Layout.Replicate


@df.region()
def kernel(A: int32[4], C: int32[4]):
    @df.kernel(mapping=[2, 2], args=[A, C])
    def task(A: int32[4] @ [S(0)], C: int32[4]):
        sums: int32[2] = 0
        for i in range(2):
            sums[i] += A[i]
        C[0:2] = allo.allreduce(sums)
