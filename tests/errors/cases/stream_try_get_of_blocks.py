from allo.ir.types import Stream, int32


def kernel(A: int32[4]):
    s: Stream[int32[2], 4]
    x, ok = s.try_get()
    A[0] = x
