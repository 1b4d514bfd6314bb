"""Parts of an array on a grid to two variables in a chain."""

import allo.dataflow as df
from allo.ir.types import int32
from allo.memory import Layout


@df.region()
def kernel(A: int32[4], B: int32[4]):
    @df.kernel(mapping=[2], args=[A, B])
    def double(a: "int32[4] @ Layout('S0')", b: "int32[4] @ Layout('S0')"):
        b[:] = c = a
        b[:] = b * 2
