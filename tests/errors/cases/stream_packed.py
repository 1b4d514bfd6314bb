from allo.ir.types import Stream, int32


def kernel(A: int32[4]):
    s: Stream[int32, 4, 2]
    s.put(A)
    s.put(A[0])
    if s.try_put(A[0:3]):
        A[0] = s.get()
    x, ok = s.try_get()
    if ok:
        A[0] = x
    t: Stream[int32, 5, 2]
