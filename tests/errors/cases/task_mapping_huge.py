import allo.dataflow as df
from allo.ir.types import int32


@df.region()
def kernel(A: int32[4]):
    @df.kernel(mapping=[4096, 4096], args=[A])
    def f(X: int32[4]):
        X[0] = 1
