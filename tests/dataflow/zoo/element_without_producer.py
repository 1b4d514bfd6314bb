"""Nobody puts into the FIFO of position 0."""

import allo
import allo.dataflow as df
from allo.ir.types import Stream, int32


@df.region()
def kernel():
    s: Stream[int32, 4][4]

    @df.task(mapping=[4])
    def ring():
        p = df.get_tid()
        with allo.meta_if(p < 3):
            s[p + 1].put(p)
        s[p].get()
