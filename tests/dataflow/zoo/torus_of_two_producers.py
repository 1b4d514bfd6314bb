"""On a ring each stream is given to by both neighbours."""

import allo.dataflow as df
from allo.ir.types import Stream, int32

P = 4


@df.region()
def kernel():
    s: Stream[int32, 4][P]

    @df.task(mapping=[P])
    def ring():
        i = df.get_pid()
        s[(i + 1) % P].put(i)
        s[(i + P - 1) % P].put(i)
        s[i].get()
        s[i].get()
