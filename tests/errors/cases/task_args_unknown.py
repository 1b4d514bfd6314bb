import allo.dataflow as df
from allo.ir.types import int32


@df.region()
def kernel(A: int32[4]):
    @df.kernel(mapping=[1])
    def f(B: int32[4]):
        B[0] = 1
