"""What searches stops at what it finds, and leaves the others in the stream."""

import numpy as np

import allo.dataflow as df
from allo.ir.types import Stream, int32


@df.region()
def kernel(A: int32[4], found: int32[1]):
    s: Stream[int32, 4]

    @df.task(args=[A])
    def source(A: int32[4]):
        for i in range(4):
            s.put(A[i])

    @df.task(args=[found])
    def sink(found: int32[1]):
        while found[0] < 2:
            found[0] = s.get()


def provoke() -> None:
    df.build(kernel)(np.arange(4, dtype=np.int32), np.zeros(1, np.int32))
