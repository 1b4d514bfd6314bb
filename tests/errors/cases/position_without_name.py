import allo.dataflow as df
from allo.ir.types import Stream, int32


@df.region()
def kernel(A: int32[4]):
    pipes: Stream[int32, 2][4]

    @df.task(mapping=[4], args=[A])
    def put(A: int32[4]):
        pipes[df.get_tid()].put(A[0])

    @df.task(mapping=[4], args=[A])
    def get(A: int32[4]):
        i = df.get_tid()
        A[i] = pipes[i].get()
