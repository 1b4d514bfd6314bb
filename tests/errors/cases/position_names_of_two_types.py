import allo
import allo.dataflow as df
from allo.ir.types import int8, int32


@df.region()
def kernel(A: int32[4]):
    @df.kernel(mapping=[4], args=[A])
    def task(A: int32[4]):
        p = df.get_pid()
        with allo.meta_if(p == 0):
            x: int32 = 1
        with allo.meta_else():
            x: int8 = 2
        A[p] = x
