from allo.ir.types import Stream, Struct, int32

Point = Struct({"x": int32, "y": int32})


def kernel(A: int32[4]):
    s: Stream[Point, 4]
    s.put(A[0])
    if s.try_put(A[1]):
        A[0] = s.get()
