"""A mistake in a template that only some instances have: the call that makes the instance is shown."""

from allo.ir.types import float32, index, int32


def shifted[T, N: index](A: "T[N]"):
    for i in range(N):
        A[i] = A[i] << 1


def both[T](A: "T[4]"):
    shifted[T, 4](A)


def kernel(A: int32[4], B: float32[4]):
    both[int32](A)
    both[float32](B)
