"""A loop over data takes any number, but what is put is never taken."""

import allo.dataflow as df
from allo.ir.types import Stream, int32

N = 4


@df.region()
def kernel(A: int32[N]):
    s: Stream[int32, 8]
    t: Stream[int32, 8]

    @df.task(args=[A])
    def source(A: int32[N]):
        k: int32 = 0
        while k < A[0]:
            s.put(k)
            k += 1
        t.put(k)
        t.put(k)

    @df.task()
    def sink():
        n: int32 = t.get()
        for _i in range(n):
            s.get()
