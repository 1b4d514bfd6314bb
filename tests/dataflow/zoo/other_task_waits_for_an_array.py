"""The reader of an array begins when its writer has ended, which waits for the reader."""

import allo.dataflow as df
from allo.ir.types import Stream, int32

N = 8


@df.region()
def kernel(A: int32[N], B: int32[N]):
    s: Stream[int32, 2]

    @df.task(args=[A])
    def writer(A: int32[N]):
        for i in range(N):
            A[i] = i
            s.put(i)

    @df.task(args=[A, B])
    def reader(A: int32[N], B: int32[N]):
        for i in range(N):
            B[i] = A[i] + s.get()



def provoke():
    df.customize(kernel).build(target="vhls")
