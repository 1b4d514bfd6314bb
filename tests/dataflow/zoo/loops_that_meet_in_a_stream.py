"""Rows and columns of a plane of streams are filled by two tasks."""

import allo
import allo.dataflow as df
from allo.ir.types import Stream, int32


@df.region()
def kernel():
    s: Stream[int32, 2][4, 4]

    @df.task()
    def row():
        for j in range(4):
            s[2, j].put(j)

    @df.task()
    def column():
        for i in range(4):
            s[i, 1].put(i)

    @df.task(mapping=[4, 4])
    def sink():
        i, j = df.get_pid()
        with allo.meta_if(i == 2 or j == 1):
            s[i, j].get()
