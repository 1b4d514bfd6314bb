"""Functions as Python-like text: what a user reads in diffs and in the reference of primitives."""

import numpy as np

import allo
from allo.ir.pseudocode import module_text
from allo.ir.types import Fixed, UFixed, UInt, float32, int8, int32, uint8

WEIGHTS = np.arange(8, dtype=np.int32)


def text_of(kernel) -> str:
    return module_text(allo.customize(kernel).ir)


def test_loops_branches_and_assignments():
    def kernel(A: int32[8, 8], n: uint8) -> int32:
        t: int32 = 0
        for i in range(n):
            t += A[i, 0] * WEIGHTS[i] - 3
            if i > 2 and i < 5:
                A[i - 1, 0] = t if A[i, 0] > 2 else A[0, 0]
            elif A[3, 0] == 4:
                x: int8 = t
                A[i, 1] = x
        return t

    assert (
        text_of(kernel)
        == """\
def kernel(A: int32[8, 8], n: uint8) -> int32:
    WEIGHTS: int32[8] = @kernel_WEIGHTS
    t: int32
    t = 0
    for i in range(n):
        t += A[i, 0] * WEIGHTS[i] - 3
        if i >= 3 and i <= 4:
            A[i - 1, 0] = t if A[i, 0] > 2 else A[0, 0]
        else:
            if A[3, 0] == 4:
                x: int8
                x = t
                A[i, 1] = x
    return t"""
    )


def test_bounds_steps_and_affine_subscripts():
    def kernel(A: int32[8]):
        for i in range(7, -1, -2):
            for j in range(i, 8):
                A[(i + 2 * j) % 8] = max(i, j) * (i - (j - 1))

    assert (
        text_of(kernel)
        == """\
def kernel(A: int32[8]):
    for i in range(4):
        for j in range(-2 * i + 7, 8):
            A[(-2 * i + 2 * j + 7) % 8] = max(-2 * i + 7, j) * (-2 * i + 7 - (j - 1))"""
    )


def test_what_is_read_before_a_write_gets_a_name():
    def kernel(A: int32[8]) -> int32:
        x: int32 = A[0]
        A[0] = 3
        return x

    def swap(a: int32, b: int32) -> (int32, int32):
        return b, a

    def top(A: int32[8]):
        u, v = swap(A[0], A[1])
        A[0] = u
        A[1] = v

    assert "x = A[0]\n    A[0] = 3\n    return x" in text_of(kernel)
    assert "t, t_1 = swap(A[0], A[1])" in text_of(top)


def test_calls_and_while():
    def f(x: float32) -> float32:
        return allo.exp(x) + 1.0

    def kernel(A: float32[4]):
        while A[0] < 8.0:
            A[0] = f(A[0])

    assert (
        text_of(kernel)
        == """\
def f(x: float32) -> float32:
    return exp(x) + 1.0

def kernel(A: float32[4]):
    while A[0] < 8.0:
        t = f(A[0])
        A[0] = t"""
    )


def test_shifts_and_fixed_point():
    def kernel(a: int8, x: Fixed(16, 8)) -> int32:
        least: Fixed(16, 8) = -1.5
        b: int32 = a
        if x < least:
            b = (a << 16) + (a >> 3)
        return b

    text = text_of(kernel)
    assert "least = -1.5\n" in text and "if x < least:\n        b = (a << 16) + (a >> 3)" in text


def test_fixed_point_constants_of_one_bit():
    def kernel(A: UFixed(1, 1)[4], B: Fixed(1, 0)[4]):
        half: UFixed(1, 1) = 0.5
        for i in range(4):
            A[i], B[i] = half, -1

    text = text_of(kernel)
    assert "half = 0.5" in text and "B[i] = -1" in text


def test_unsigned_fixed_point_constants_of_the_upper_half():
    U = UFixed(10, 8)

    def kernel(A: U[4]):
        for i in range(4):
            A[i] = 3.5

    assert "A[i] = 3.5" in text_of(kernel)


def wide(A: UInt(200)[4]):
    for i in range(4):
        A[i] = A[i] + 1180591620717411303424


def test_constants_of_more_than_64_bits():
    s = allo.customize(wide)
    assert "1180591620717411303424" in s.pseudocode()
    assert "wide on" in str(allo.estimate(s)) and allo.verify(s, s)
