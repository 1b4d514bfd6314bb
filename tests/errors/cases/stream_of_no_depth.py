import allo.dataflow as df
from allo.ir.types import int32


@df.region()
def kernel(A: int32[4]):
    pipe = df.pipe(dtype=int32, shape=(), depth=0)
    A[0] = 1
