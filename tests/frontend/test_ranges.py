"""The proof by intervals: what it proves is inside, what it cannot prove it leaves open."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import allo
from allo.errors import KernelError
from allo.frontend.program import compile_kernel
from allo.ir.types import float32, int32, uint4


def proven(kernel) -> bool:
    return kernel.__name__ in compile_kernel(kernel).inside


def test_a_stencil_is_proven():
    def kernel(A: float32[8, 8], B: float32[8, 8]):
        for i, j in allo.grid(6, 6):
            B[i + 1, j + 1] = A[i, j + 2] + A[i + 2, j]

    assert proven(kernel)


def test_triangles_and_negative_steps_are_proven():
    def kernel(A: float32[8, 8]):
        for i in range(7, -1, -1):
            for j in range(i, 8):
                A[i, j] = A[j, i] + A[(i * 3) % 8, j // 2]

    assert proven(kernel)


def test_a_guarded_access_is_left_to_the_model():
    def kernel(A: int32[8]):
        for i in range(9):
            if i < 8:
                A[i] = i

    assert not proven(kernel)
    assert allo.customize(kernel)


def test_a_subscript_from_an_array_or_an_argument_is_not_proven():
    def gather(A: int32[8], B: int32[8]):
        for i in range(8):
            B[i] = A[A[i]]

    def shifted(A: int32[8], n: int32):
        A[n] = 1

    assert not proven(gather) and not proven(shifted)


def test_a_narrow_conversion_is_not_proven():
    def kernel(A: int32[16]):
        for i in range(20):
            A[uint4(i)] = i

    assert not proven(kernel)


def test_an_access_beyond_the_array_is_still_refused():
    def kernel(A: int32[8]):
        for i in range(8):
            A[i + 1] = 0

    with pytest.raises(KernelError, match="subscript 0 is 8 when i=7"):
        allo.customize(kernel)


BOUND = st.integers(-3, 9)


@settings(max_examples=200, deadline=None, derandomize=True)
@given(BOUND, BOUND, st.sampled_from([-2, -1, 1, 3]), st.integers(-2, 2), BOUND, st.integers(1, 9))
def test_what_is_proven_runs_inside(start, stop, step, a, b, m):
    def kernel(A: int32[8]):
        for i in range(start, stop, step):
            for j in range(i, 6):
                A[(a * i + j + b) % m] = 1

    touched = [(a * i + j + b) % m for i in range(start, stop, step) for j in range(i, 6)]
    assert all(0 <= t < 8 for t in touched) or not proven(kernel)
