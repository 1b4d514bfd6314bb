import allo.dataflow as df
from allo.ir.types import int32
from allo.memory import Layout


@df.region()
def kernel(A: int32[4], n: int32):
    @df.kernel(mapping=[2], args=[A, n])
    def f(X: int32[4] @ Layout("S"), n: int32 @ Layout("S")):
        X[0] = n
