"""Arithmetic of floats equals that of NumPy in the same precision."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import allo
from allo.ir.types import bfloat16, bool, float16, float32, float64, int32

X = np.array([1.5, -2.25, 0.0, -0.0, 3.75, 1e-3, -7.5, 100.0])
Y = np.array([2.0, 0.75, 1.0, -3.0, -0.5, 1e-3, 2.5, -7.0])


def half(A: float16[8], B: float16[8], R: float16[6, 8]):
    for i in range(8):
        R[0, i] = A[i] + B[i]
        R[1, i] = A[i] - B[i]
        R[2, i] = A[i] * B[i]
        R[3, i] = A[i] / B[i]
        R[4, i] = -A[i]
        R[5, i] = abs(A[i])


def single(A: float32[8], B: float32[8], R: float32[6, 8]):
    for i in range(8):
        R[0, i] = A[i] + B[i]
        R[1, i] = A[i] - B[i]
        R[2, i] = A[i] * B[i]
        R[3, i] = A[i] / B[i]
        R[4, i] = -A[i]
        R[5, i] = abs(A[i])


def double(A: float64[8], B: float64[8], R: float64[6, 8]):
    for i in range(8):
        R[0, i] = A[i] + B[i]
        R[1, i] = A[i] - B[i]
        R[2, i] = A[i] * B[i]
        R[3, i] = A[i] / B[i]
        R[4, i] = -A[i]
        R[5, i] = abs(A[i])


def brain(A: bfloat16[8], B: bfloat16[8], R: bfloat16[6, 8]):
    for i in range(8):
        R[0, i] = A[i] + B[i]
        R[1, i] = A[i] - B[i]
        R[2, i] = A[i] * B[i]
        R[3, i] = A[i] / B[i]
        R[4, i] = -A[i]
        R[5, i] = abs(A[i])


DTYPES = {"half": np.float16, "single": np.float32, "double": np.float64, "brain": ml_dtypes.bfloat16}


@pytest.mark.parametrize("kernel", [half, single, double, brain], ids=lambda kernel: kernel.__name__)
def test_arithmetic(agree: Callable[..., Any], kernel: Any) -> None:
    dtype = DTYPES[kernel.__name__]
    agree(kernel, X.astype(dtype), Y.astype(dtype), np.zeros((6, 8), dtype), plain=True)


def divisions(A: float64[8], B: float64[8], R: float64[4, 8]):
    for i in range(8):
        R[0, i] = A[i] // B[i]
        R[1, i] = A[i] % B[i]
        R[2, i] = min(A[i], B[i])
        R[3, i] = max(A[i], B[i], 0.5)


def test_floor_division_and_modulo_are_those_of_python(agree: Callable[..., Any]) -> None:
    agree(divisions, X, Y, np.zeros((4, 8)), plain=True)


def comparisons(A: float32[8], B: float32[8], R: bool[6, 8]):
    for i in range(8):
        R[0, i] = A[i] < B[i]
        R[1, i] = A[i] <= B[i]
        R[2, i] = A[i] == B[i]
        R[3, i] = A[i] != B[i]
        R[4, i] = A[i] > B[i]
        R[5, i] = A[i] >= B[i]


def test_comparisons_with_nan(agree: Callable[..., Any]) -> None:
    A, B = X.astype(np.float32), Y.astype(np.float32)
    A[1] = B[2] = A[3] = B[3] = np.nan
    agree(comparisons, A, B, np.zeros((6, 8), np.bool_), plain=True)


def elementary(A: float64[5], R: float64[10, 5]):
    for i in range(5):
        R[0, i] = allo.exp(A[i])
        R[1, i] = allo.log(A[i])
        R[2, i] = allo.log2(A[i])
        R[3, i] = allo.log10(A[i])
        R[4, i] = allo.sqrt(A[i])
        R[5, i] = allo.sin(A[i])
        R[6, i] = allo.cos(A[i])
        R[7, i] = allo.tan(A[i])
        R[8, i] = allo.tanh(A[i])
        R[9, i] = allo.power(A[i], 1.5)


def test_elementary_functions() -> None:
    A = np.array([0.1, 0.5, 1.0, 2.5, 10.0])
    built, wanted = np.zeros((10, 5)), np.zeros((10, 5))
    allo.customize(elementary).build()(A, built)
    elementary(A, wanted)
    np.testing.assert_allclose(built, wanted, rtol=1e-14)


def powers(A: float64[5], R: float64[5, 5]):
    for i in range(5):
        R[0, i] = A[i] ** 3
        R[1, i] = A[i] ** 0
        R[2, i] = A[i] ** 0.5
        R[3, i] = A[i] ** -2
        R[4, i] = 2 ** A[i]


def test_powers() -> None:
    A = np.array([0.1, 0.5, 1.0, 2.5, 10.0])
    built, wanted = np.zeros((5, 5)), np.zeros((5, 5))
    allo.customize(powers).build()(A, built)
    powers(A, wanted)
    np.testing.assert_allclose(built, wanted, rtol=1e-14)


def mixed(a: float16, b: float64, n: int32) -> (float64, float32, int32):
    return a * b + n, n / 4, a * n


def test_mixed_precision_uses_the_wider_type() -> None:
    third = float(np.float16(1 / 3))
    assert allo.customize(mixed).build()(third, 0.1, -7) == (third * 0.1 - 7, -1.0, -2)


def mixed_power(a: float32, b: float64) -> float64:
    return allo.power(a, b)


def test_functions_of_mixed_precision_are_computed_in_the_wider_type() -> None:
    assert allo.customize(mixed_power).build()(2.0, 0.1) == pytest.approx(2.0**0.1, rel=1e-14)


def negative_zero(x: float32) -> float32:
    return -x


def test_negation_gives_negative_zero() -> None:
    assert np.signbit(allo.customize(negative_zero).build()(0.0))


def literal_in_double(x: float64) -> float64:
    return x + 0.1


def test_a_literal_has_the_precision_of_its_partner() -> None:
    assert allo.customize(literal_in_double).build()(1.0) == 1.0 + 0.1
