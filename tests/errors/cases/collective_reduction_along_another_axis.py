"""The sum is to be combined along axis 0, not 1."""

import allo
import allo.dataflow as df
from allo.ir.types import int32
from allo.memory import Layout

S, R = Layout.Shard, Layout.Replicate


@df.region()
def kernel(A: int32[4, 6], B: int32[6, 4], C: int32[4, 4]):
    @df.kernel(mapping=[2, 2], args=[A, B, C])
    def task(A: int32[4, 6] @ [S(1), S(0)], B: int32[6, 4] @ [S(0), R], C: int32[4, 4] @ [S(1), R]):
        part = A @ B
        C[:, :] = allo.allreduce(part, axis=1)
