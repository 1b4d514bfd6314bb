"""Positions of a ring put a row each before they get one, into FIFOs that hold less."""

import allo.dataflow as df
from allo.ir.types import Stream, int32

N, P = 8, 3


@df.region()
def kernel():
    s: Stream[int32, 4][P]

    @df.task(mapping=[P])
    def ring():
        p = df.get_pid()
        for i in range(N):
            s[(p + 1) % P].put(i)
        for _i in range(N):
            s[p].get()



def provoke():
    df.customize(kernel).build(target="vhls")
