"""All positions of a row have the same part of the result, and each writes something else to it."""

import allo
import allo.dataflow as df
from allo.ir.types import int32
from allo.memory import Layout


@df.region()
def kernel(A: int32[4, 4], B: int32[4, 4]):
    @df.task(mapping=[2, 2], args=[A, B])
    def copy(A: int32[4, 4] @ Layout("S1R"), B: int32[4, 4] @ Layout("S1R")):
        i, j = df.get_tid()
        for k, l in allo.grid(2, 4):
            B[k, l] = A[k, l] + j
