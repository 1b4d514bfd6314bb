"""Both are cut, along different axes, so that elements do not belong together."""

import allo
import allo.dataflow as df
from allo.ir.types import int32
from allo.memory import Layout

S, R = Layout.Shard, Layout.Replicate


@df.region()
def kernel(A: int32[4], B: int32[4], C: int32[4]):
    @df.kernel(mapping=[2, 2], args=[A, B, C])
    def task(A: int32[4] @ [S(0)], B: int32[4] @ [S(1)], C: int32[4] @ [S(0)]):
        C[:] = A + B
