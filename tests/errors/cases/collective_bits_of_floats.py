"""Floats have no bits that could be combined."""

import allo
import allo.dataflow as df
from allo.ir.types import float32
from allo.memory import Layout

S, R = Layout.Shard, Layout.Replicate


@df.region()
def kernel(A: float32[4], C: float32[4]):
    @df.kernel(mapping=[4], args=[A, C])
    def task(A: float32[4], C: float32[4]):
        x = allo.allreduce(A, "&", 0)
