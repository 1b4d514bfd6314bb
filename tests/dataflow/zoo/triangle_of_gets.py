"""One side runs a triangle, the other one a square."""

import allo.dataflow as df
from allo.ir.types import Stream, int32

N = 4


@df.region()
def kernel():
    s: Stream[int32, 4]

    @df.task()
    def square():
        for i in range(N):
            for j in range(N):
                s.put(i + j)

    @df.task()
    def triangle():
        for i in range(N):
            for _j in range(i + 1):
                s.get()
