"""Each position waits for the one before it; nobody begins."""

import allo.dataflow as df
from allo.ir.types import Stream, int32

N = 4


@df.region()
def kernel():
    s: Stream[int32, 4][4]

    @df.task(mapping=[4])
    def ring():
        p = df.get_tid()
        for _i in range(N):
            x = s[p].get()
            s[(p + 1) % 4].put(x)
