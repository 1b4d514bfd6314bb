import allo
import allo.dataflow as df
from allo.ir.types import Int, Stream, float32, int32

wide = Int(600)


@df.region()
def kernel(A: int32[4, 4], n: int32):
    fifo: Stream[int32, 2][4]
    other: Stream[float32, 2]
    blocks: Stream[int32[2], 2][4]

    @df.kernel(mapping=[4], args=[A])
    def task(A: int32[4, 4]):
        p = df.get_pid()
        a = allo.all_gather(p, 0)
        b = allo.all_gather(A, 0, dim=2)
        c = allo.allreduce(A, axes=0)
        d = allo.allreduce(A, x=A)
        e = allo.allreduce(A, "+", 0, 0)
        f = allo.allreduce(op="+")
        g = allo.allreduce(A, op=p)
        h = allo.reduce_scatter(A, axis=0, dim="0")
        i = allo.allreduce(A, axis="0")
        j = allo.reduce_scatter(A, axis=[0])
        k = allo.allreduce(A, axis=[0, -1])
        big: wide = 1
        m = allo.allreduce(big, "*", 0)

    @df.kernel(mapping=[1])
    def streams():
        a = df.gather(fifo, 0, 1)
        b = df.gather([fifo[0], other])
        c = df.gather(fifo, axis=1)
        d = df.gather(blocks, axis=1.5)
        e = df.gather([fifo[k] for k in range(4) if k])
        f = df.gather([fifo for k in range(4)])
        df.scatter(1, fifo[:].get())
        g = df.gather(fifo[::2])
        h = df.gather(fifo[:, 0])
        df.scatter(1, fifo)
