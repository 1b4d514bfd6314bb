"""Data say into which stream is put, and no more than one element comes where two are taken."""

import allo.dataflow as df
from allo.ir.types import Stream, int32


@df.region()
def kernel(A: int32[4]):
    s: Stream[int32, 4][4]

    @df.task(args=[A])
    def source(A: int32[4]):
        for i in range(4):
            s[A[i]].put(i)

    @df.task(mapping=[4])
    def sink():
        p = df.get_pid()
        for _i in range(2):
            s[p].get()
