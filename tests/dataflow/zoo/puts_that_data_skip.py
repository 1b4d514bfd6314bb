"""Data may skip puts, but one get more is always made."""

import allo.dataflow as df
from allo.ir.types import Stream, int32

N = 4


@df.region()
def kernel(A: int32[N], B: int32[N]):
    s: Stream[int32, 4]

    @df.task(args=[A])
    def source(A: int32[N]):
        for i in range(N):
            if A[i] > 0:
                s.put(A[i])

    @df.task(args=[B])
    def sink(B: int32[N]):
        for i in range(N):
            B[i] = s.get()
        s.get()
