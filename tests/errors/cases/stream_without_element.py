from allo.ir.types import Stream, int32


def kernel(A: int32[4]):
    s: Stream
    A[0] = 1
