"""Arithmetic at the edges of its types is defined, and never ends the process."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import allo
from allo.ir.types import float32, int8, int32, int64, int512


def divide(x: int32, y: int32) -> (int64, int64, int32):
    return x / y, x // y, x % y


def divide64(x: int64, y: int64) -> (int64, int64, int64):
    return x / y, x // y, x % y


def divide8(x: int8, y: int8) -> (int64, int64, int8):
    return x / y, x // y, x % y


LEAST = {divide: -(2**31), divide64: -(2**63), divide8: -128}


@pytest.mark.parametrize("kernel", LEAST, ids=lambda kernel: kernel.__name__)
def test_the_least_number_divided_by_minus_one(kernel: Any) -> None:
    least = LEAST[kernel]
    quotient = -least if kernel is not divide64 else least  # wraps when it is assigned to int64
    assert allo.customize(kernel).build()(least, -1) == (quotient, quotient, 0)


@pytest.mark.parametrize("kernel", LEAST, ids=lambda kernel: kernel.__name__)
def test_division_by_zero_at_run_time_divides_by_one(kernel: Any) -> None:
    assert allo.customize(kernel).build()(7, 0) == (7, 7, 0)


def shift(x: int32, by: int32) -> (int32, int32):
    return x << by, x >> by


@pytest.mark.parametrize(
    ("by", "result"), [(3, (-800, -13)), (31, (0, -1)), (32, (0, -1)), (1000, (0, -1)), (-1, (0, -1))]
)
def test_shifts_by_any_amount(by: int, result: tuple[int, int]) -> None:
    assert allo.customize(shift).build()(-100, by) == result


def large_factors(A: int32[4]):
    for i in range(4):
        if i * 2**62 * 4 < 5:
            A[i] = 9


def test_conditions_beyond_64_bits_are_exact() -> None:
    A = np.zeros(4, np.int32)
    allo.customize(large_factors).build()(A)
    assert A.tolist() == [9, 0, 0, 0]


def large_bound(A: int32[4]):
    for i in range(4):
        if i < 2**70:
            A[i] = 1


def test_comparison_with_a_constant_beyond_64_bits() -> None:
    A = np.zeros(4, np.int32)
    allo.customize(large_bound).build()(A)
    assert A.tolist() == [1] * 4


def wide(x: int64) -> int64:
    y: int512 = x * x * x * x
    return y // (x * x * x)


def test_intermediate_results_are_as_wide_as_needed() -> None:
    assert allo.customize(wide).build()(2**60 + 1) == 2**60 + 1


def constants_wrap(A: int32[2]):
    A[0] = 123456789012345678901234567890
    A[1] = -(2**31) - 1


def test_constants_wrap_as_values_do() -> None:
    A = np.zeros(2, np.int32)
    allo.customize(constants_wrap).build()(A)
    assert A.tolist() == [1312754386, 2**31 - 1]


def infinite(A: float32[3]):
    A[0] = 1e300
    A[1] = A[2] / 0.0
    A[2] = -1e300


def test_floats_overflow_to_infinity() -> None:
    A = np.ones(3, np.float32)
    allo.customize(infinite).build()(A)
    assert A.tolist() == [np.inf, np.inf, -np.inf]


def test_a_variable_that_starts_with_one_of_two_literals_is_an_int32() -> None:
    def chosen(c: int32) -> int32:
        x = 5 if c > 0 else 7
        x = x + 100
        return x

    s = allo.customize(chosen)
    assert s.build()(1) == allo.interpret(chosen)(1) == chosen(1) == 105
    assert s.build()(0) == 107
