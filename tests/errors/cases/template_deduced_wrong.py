"""What follows from the arguments is not admitted by the constraint."""

from allo.ir.types import float32, int8, int32


def first[T: (int32, float32)](X: "T[4]") -> "T":
    return X[0]


def kernel(A: int8[4]):
    A[0] = first(A)
