import allo.dataflow as df
from allo.ir.types import int8, int32


@df.region()
def kernel(A: int32[4]):
    @df.kernel(mapping=[1], args=[A])
    def f(X: int8[4]):
        X[0] = 1
