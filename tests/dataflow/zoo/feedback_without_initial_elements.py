"""What is fed back is taken before anything was put."""

import allo.dataflow as df
from allo.ir.types import Stream, int32

N = 8


@df.region()
def kernel(A: int32[N], B: int32[N]):
    state: Stream[int32, 2]
    result: Stream[int32, 2]

    @df.task(args=[A])
    def accumulate(A: int32[N]):
        for i in range(N):
            x: int32 = state.get() + A[i]
            state.put(x)
            result.put(x)

    @df.task(args=[B])
    def sink(B: int32[N]):
        for i in range(N):
            B[i] = result.get()
