"""Constant arrays have all their elements, of every type."""

from __future__ import annotations

import re
import shutil

import ml_dtypes
import numpy as np
import pytest

import allo
from allo.ir.types import Fixed, UInt, bfloat16, bool, float16, float32, float64, index, int32, int64, uint64

from .test_csim import assert_same

FLAGS = np.array([True, False, True])
HALVES = np.array([0.1, 65504, -0.0], np.float16)
BRAINS = np.array([3.14159, -0.0, np.inf], ml_dtypes.bfloat16)
SINGLES = np.array([np.nan, 1, np.nan], np.float32)
DOUBLES = np.array([1e300, 5e-324, -np.inf])
UNSIGNED = np.array([2**64 - 1, 2**63, 2**64 - 1], np.uint64)
SIGNED = np.array([-(2**63), 2**63 - 1, -(2**63)])
SMALL = np.array([1, 2, 1], np.int32)


def constants() -> (
    bool[3], float16[3], bfloat16[3], float32[3], float64[3], uint64[3], int64[3], UInt(3)[3], Fixed(6, 2)[3],
):  # fmt: skip
    a: bool[3] = FLAGS
    b: float16[3] = HALVES
    c: bfloat16[3] = BRAINS
    d: float32[3] = SINGLES
    e: float64[3] = DOUBLES
    f: uint64[3] = UNSIGNED
    g: int64[3] = SIGNED
    h: UInt(3)[3] = SMALL
    i: Fixed(6, 2)[3] = SMALL
    return a, b, c, d, e, f, g, h, i


WRITTEN = [
    "bool x[3] = {true, false, true}",
    "half x[3] = {half(0.099975586f), half(65504.0f), half(-0.0f)}",
    "bfloat16 x[3] = {bfloat16(3.140625f), bfloat16(-0.0f), bfloat16(INFINITY)}",
    "float x[3] = {NAN, 1.0f, NAN}",
    "double x[3] = {1e+300, 5e-324, -INFINITY}",
    "uint64_t x[3] = {uint64_t(18446744073709551615ULL), uint64_t(9223372036854775808ULL), "
    "uint64_t(18446744073709551615ULL)}",
    "int64_t x[3] = {int64_t(-9223372036854775807LL - 1), int64_t(9223372036854775807ULL), "
    "int64_t(-9223372036854775807LL - 1)}",
    "int32_t x[3] = {1, 2, 1}",
    "ap_fixed<6, 4> x[3] = {ap_fixed<6, 4>(1.0), ap_fixed<6, 4>(2.0), ap_fixed<6, 4>(1.0)}",
]


def test_elements_of_constants() -> None:
    code = allo.customize(constants).build(target="vhls").hls_code
    found = re.findall(r"static const (.*?);", re.sub(r"\s+", " ", code))
    assert sorted(re.sub(r" \w+\[", " x[", text) for text in found) == sorted(WRITTEN)


def far(n: index, by: int64) -> (index, int32):
    moved: index = n + by
    count: int32 = 0
    for _ in range(by):
        count += 1
    return moved, count


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("g++") is None, reason="the simulation needs g++")
def test_constants_of_every_type() -> None:
    assert_same(allo.customize(constants), [()])


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("g++") is None, reason="the simulation needs g++")
def test_an_index_has_64_bits() -> None:
    """As in NumPy; what counts elements of an array only is an `int` of C++."""
    assert_same(allo.customize(far), [(2**40, -(2**33) + 5), (-7, 12)])
