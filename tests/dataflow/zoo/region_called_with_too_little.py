"""A task calls a region without its second argument."""

import allo.dataflow as df
from allo.ir.types import int32


@df.region()
def inner(A: int32[4], B: int32[4]):
    @df.task(args=[A, B])
    def copy(A: int32[4], B: int32[4]):
        for i in range(4):
            B[i] = A[i]


@df.region()
def kernel(A: int32[4]):
    @df.task(args=[A])
    def outer(A: int32[4]):
        inner(A)
