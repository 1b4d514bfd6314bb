import allo.dataflow as df
from allo.ir.types import int32


@df.region()
def kernel(A: int32[4]):
    @df.task(args=[A])
    def line(A: int32[4]):
        A.put(1)
