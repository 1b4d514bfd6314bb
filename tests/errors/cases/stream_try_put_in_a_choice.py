from allo.ir.types import Stream, int32


def kernel(A: int32[4]):
    s: Stream[int32, 4]
    if A[0] > 0 and s.try_put(1):
        A[0] = 1
