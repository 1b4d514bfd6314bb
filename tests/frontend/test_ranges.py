"""The proof by intervals: what it proves is inside, what it cannot prove it leaves open."""

import itertools
import operator
from collections.abc import Callable

import pytest
from hypothesis import strategies as st

import allo
from allo.errors import KernelError
from allo.frontend.program import compile_kernel
from allo.frontend.typing.ranges import combined
from allo.ir.types import float32, int32, uint4
from tests.seeds import drawn, sweep


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


def test_a_difference_is_least_where_the_subtrahend_is_greatest():
    def kernel(A: int32[8], B: int32[8]):
        for i, j in allo.grid(8, 8):
            B[i] = A[i - j]

    with pytest.raises(KernelError, match="subscript 0 is -1 when i=0, j=1"):
        allo.customize(kernel)


OPERATORS: dict[str, Callable[[int, int], int]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "//": operator.floordiv,
    "%": operator.mod,
    "min": min,
    "max": max,
}
INTERVALS = [(low, high) for low in range(-3, 5) for high in range(low, 5)]


@pytest.mark.parametrize("name", OPERATORS)
def test_every_value_is_in_the_interval(name):
    """The ends are values too, but for remainders, of which only the divisor counts."""
    for lhs, rhs in itertools.product(INTERVALS, INTERVALS):
        found = combined(name, lhs, rhs)
        if found is None:
            assert name in ("//", "%") and rhs[0] <= 0
            continue
        pairs = itertools.product(range(lhs[0], lhs[1] + 1), range(rhs[0], rhs[1] + 1))
        values = [OPERATORS[name](a, b) for a, b in pairs]
        if name == "%":
            assert found[0] <= min(values) and max(values) <= found[1] <= max(lhs[1], rhs[1] - 1)
        else:
            assert found == (min(values), max(values))


def test_an_operator_without_a_rule_has_no_interval():
    assert combined("^", (0, 1), (0, 1)) is None


BOUND = st.integers(-3, 9)


@sweep(3)
@drawn(67, BOUND, BOUND, st.sampled_from([-2, -1, 1, 3]), st.integers(-2, 2), BOUND, st.integers(1, 9))
def test_what_is_proven_runs_inside(start, stop, step, a, b, m):
    def kernel(A: int32[8]):
        for i in range(start, stop, step):
            for j in range(i, 6):
                A[(a * i + j + b) % m] = 1

    touched = [(a * i + j + b) % m for i in range(start, stop, step) for j in range(i, 6)]
    assert all(0 <= t < 8 for t in touched) or not proven(kernel)
