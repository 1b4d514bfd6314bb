"""Nobody gets from the FIFO of position 3."""

import allo
import allo.dataflow as df
from allo.ir.types import Stream, int32


@df.region()
def kernel():
    s: Stream[int32, 4][4]

    @df.task(mapping=[4])
    def line():
        p = df.get_tid()
        s[p].put(p)
        with allo.meta_if(p < 3):
            s[p].get()
