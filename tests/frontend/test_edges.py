"""Arithmetic at the edges of its types is defined, and never ends the process."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

import allo
from allo.ir.types import float32, int8, int32, int64, int512, uint32
from tests.backend.hls.cpp_programs import needs_compiler


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


def compared(c: int32, d: int32, q: uint32, n: int64, A: int32[6], R: int32[8]):
    """Conditions, quotients and remainders of scalars whose sums an `int` of C++ does not hold."""
    R[0] = A[(c + 1) % 6]
    R[1] = A[q % 6]
    if q > c:
        R[2] = 1
    if c + d > 5:
        R[3] = 1
    for i in range(4):
        if i - c < 5:
            R[4] += 1
        if (c + i) // 3 < (d - i) // 4:
            R[5] += 1
        if i + q < n:
            R[6] += 1
        for _ in range(max(i, c - 1), min(4, i + c)):
            R[7] += 1


@pytest.mark.parametrize("target", [None, pytest.param("vitis_hls", marks=needs_compiler), "rtl"])
def test_scalars_at_the_ends_of_their_types_are_compared_as_they_are(target: str | None) -> None:
    s = allo.customize(compared)
    mode = {"mode": "csim"} if target == "vitis_hls" else {}
    built, reference = s.build(target=target, **mode) if target else s.build(), allo.interpret(compared)
    ends = (2**31 - 1, -(2**31), 3)
    for c, d, (q, n) in product(ends, ends, [(2**32 - 1, 2**33), (2**31, -(2**63)), (5, 7)]):
        found, wanted = np.zeros(8, np.int32), np.zeros(8, np.int32)
        for run, R in ((built, found), (reference, wanted)):
            run(c, d, q, n, np.arange(6, dtype=np.int32), R)
        assert found.tolist() == wanted.tolist(), (c, d, q, n)
