import allo.dataflow as df
from allo.ir.types import int32
from allo.memory import Layout


@df.region()
def kernel(A: int32[4]):
    @df.kernel(mapping=[3], args=[A])
    def f(X: int32[4] @ Layout("S")):
        X[0] = 1
