"""The dimension that is summed up is cut on one side only."""

import allo
import allo.dataflow as df
from allo.ir.types import int32
from allo.memory import Layout

S, R = Layout.Shard, Layout.Replicate


@df.region()
def kernel(A: int32[4, 6], B: int32[6, 4], C: int32[4, 4]):
    @df.kernel(mapping=[2, 2], args=[A, B, C])
    def task(A: int32[4, 6] @ [S(0), S(1)], B: int32[6, 4] @ [R, R], C: int32[4, 4] @ [S(0), R]):
        C[:, :] = allo.matmul(A, B)
