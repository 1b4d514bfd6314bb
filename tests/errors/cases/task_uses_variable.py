import allo.dataflow as df
from allo.ir.types import int32


@df.region()
def kernel(A: int32[4]):
    n: int32 = A[1]
    @df.kernel(mapping=[1], args=[A])
    def f(X: int32[4]):
        X[0] = n
