from allo.ir.types import Stream, int32


def kernel(A: int32[4]):
    s: Stream[int32, 4]
    if s.try_get():
        A[0] = 1
