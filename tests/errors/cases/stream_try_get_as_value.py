from allo.ir.types import Stream, int32


def kernel(A: int32[4]):
    s: Stream[int32, 4]
    A[0] = s.try_get()
