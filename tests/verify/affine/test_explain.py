"""What a difference that the affine method finds is said to be."""

import allo
from allo.ir.types import Fixed, UFixed, float32

T, U = Fixed(12, 4), UFixed(10, 8)


def quarter(A: T[800], B: T[800]):
    for i in range(800):
        x: T = -0.25
        B[i] = A[i] + x


def half(A: T[800], B: T[800]):
    for i in range(800):
        x: T = 0.5
        B[i] = A[i] + x


def least(A: U[800], B: U[800]):
    for i in range(800):
        x: U = 0.00390625
        B[i] = A[i] + x


def most(A: U[800], B: U[800]):
    for i in range(800):
        x: U = 3.5
        B[i] = A[i] + x


def third(A: float32[800], B: float32[800]):
    for i in range(800):
        B[i] = A[i] + 0.25


def fourth(A: float32[800], B: float32[800]):
    for i in range(800):
        B[i] = A[i] + 0.5


def told(first: object, second: object) -> str:
    found = allo.verify(allo.customize(first), allo.customize(second), method="affine")
    return "\n".join(line.strip().partition("   (line")[0] for line in str(found).splitlines()[2:5])


def test_a_fixed_point_constant_is_told_as_a_number() -> None:
    assert told(quarter, half) == (
        "because: computes 0.5 instead of -0.25\nfirst program:  (A[0] + -0.25)\nsecond program: (A[0] + 0.5)"
    )
    assert told(least, most) == (
        "because: computes 3.5 instead of 0.00390625\n"
        "first program:  (A[0] + 0.00390625)\n"
        "second program: (A[0] + 3.5)"
    )


def test_a_float_constant_is_told_as_a_number() -> None:
    assert told(third, fourth) == (
        "because: computes 0.5 instead of 0.25\nfirst program:  (A[0] + 0.25)\nsecond program: (A[0] + 0.5)"
    )
