"""Both branches put more than is taken in all."""

import allo.dataflow as df
from allo.ir.types import Stream, int32

N = 4


@df.region()
def kernel(A: int32[N]):
    s: Stream[int32, 8]

    @df.task(args=[A])
    def source(A: int32[N]):
        for i in range(N):
            if A[i] > 0:
                s.put(A[i])
            else:
                s.put(0)
                s.put(1)

    @df.task()
    def sink():
        for _i in range(N - 1):
            s.get()
