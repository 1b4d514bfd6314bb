"""A region is instantiated with too many type parameters."""

import allo.dataflow as df
from allo.ir.types import index, int32


@df.region()
def inner[N: index](A: "int32[4]"):
    @df.task(args=[A])
    def clear(A: int32[4]):
        for i in range(N):
            A[i] = 0


@df.region()
def kernel(A: int32[4]):
    @df.task(args=[A])
    def outer(A: int32[4]):
        inner[2, 2](A)
