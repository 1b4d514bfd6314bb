import allo.dataflow as df
from allo.ir.types import ConstExpr, int32


@df.region()
def kernel(A: int32[4]):
    @df.kernel(mapping=[4], args=[A])
    def f(X: int32[4]):
        p = df.get_pid()
        x: ConstExpr[int32] = p * factor
        X[p] = x
