from allo.ir.types import Stream, int32


def kernel(A: int32[4]):
    s: Stream[int32[4], 2]
    s.put(A)
    if not s.empty():
        A[0] = 1
