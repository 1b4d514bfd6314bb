from allo.ir.types import Stream, int8, int32


def g(s: Stream[int8, 4]):
    s.put(1)


def h(X: int32[4]):
    X[0] = 1


def kernel(A: int32[4]):
    s: Stream[int32, 4]
    h(s)
    A[0] = s.get()
