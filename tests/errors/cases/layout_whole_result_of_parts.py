"""The result is whole at each position, what is computed is cut."""

import allo
import allo.dataflow as df
from allo.ir.types import int32
from allo.memory import Layout

S, R = Layout.Shard, Layout.Replicate


@df.region()
def kernel(A: int32[4], C: int32[4]):
    @df.kernel(mapping=[2], args=[A, C])
    def task(A: int32[4] @ [S(0)], C: int32[4]):
        C[:] = A + 1
