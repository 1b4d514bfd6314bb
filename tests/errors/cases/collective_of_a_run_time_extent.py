import allo
import allo.dataflow as df
from allo.ir.types import int32


def kernel(A: int32[...]):
    @df.kernel(mapping=[2], args=[A])
    def task(A: int32[...]):
        x = allo.allreduce(A, axis=0)
