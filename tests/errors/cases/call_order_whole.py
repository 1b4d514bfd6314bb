"""A call behind another one changes an array, in an expression of whole arrays."""

from allo.ir.types import Stateful, int32


def next_number() -> int32:
    number: Stateful[int32] = 0
    number += 1
    return number


def total(B: int32[2]) -> int32:
    B[0] += 1
    return B[0] + B[1]


def change(B: int32[4]) -> int32:
    B[3] = 1
    return 1


def kernel(A: int32[4]):
    A[:] = A * 2 + next_number()
    A[:] = A * 2 + total(A[0:2])
    A[:] = next_number() + int32[4](next_number())
    A[0] = change(A) + total(A[0:2])
