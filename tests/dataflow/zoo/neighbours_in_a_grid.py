"""The edge of a grid gets what the inside puts to its neighbour, too."""

import allo
import allo.dataflow as df
from allo.ir.types import Stream, int32


@df.region()
def kernel():
    s: Stream[int32, 4][3, 3]

    @df.task(mapping=[3, 3])
    def cell():
        i, j = df.get_tid()
        with allo.meta_if(i < 2):
            s[i + 1, j].put(i)
        with allo.meta_if(j < 2):
            s[i, j + 1].put(j)
        with allo.meta_if(i > 0):
            s[i, j].get()
        with allo.meta_if(j > 0):
            s[i, j].get()
