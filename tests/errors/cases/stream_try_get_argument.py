from allo.ir.types import Stream, int32


def kernel(A: int32[4]):
    s: Stream[int32, 4]
    x, ok = s.try_get(1)
    A[0] = x
