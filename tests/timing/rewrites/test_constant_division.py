"""Quotients and remainders by constants: products with the bits of division, in all widths, signs and roundings."""

from __future__ import annotations

import numpy as np
import pytest

import allo
from allo.ir.types import int8, int32, uint8, uint16, uint32
from allo.timing.rewrites.constant_division import reciprocal
from tests.timing.rewrites.same_bits import MANIFEST


@pytest.mark.parametrize("divisor", [3, 5, 6, 7, 10, 11, 25, 100, 127])
@pytest.mark.parametrize("bits", [1, 7, 8])
def test_all_numbers_of_few_bits(divisor: int, bits: int) -> None:
    most = (1 << bits) - 1
    found = reciprocal(divisor, most)
    for number in range(most + 1):
        assert number * found.factor >> found.shift == number // divisor
        if number:
            assert -number * found.factor >> found.shift == -(number // divisor) - 1


@pytest.mark.parametrize("divisor", [3, 641, 6700417, (1 << 31) - 1, 0xFFFFFFFB])
def test_numbers_beside_multiples_in_32_bits(divisor: int) -> None:
    most = (1 << 32) - 1
    found = reciprocal(divisor, most)
    multiples = [n * divisor for n in (0, 1, 2, most // divisor // 2, most // divisor)]
    for number in (most, *(n for m in multiples for n in (m - 1, m, m + 1) if 0 <= n <= most)):
        assert number * found.factor >> found.shift == number // divisor


def test_no_reciprocal_is_longer_than_it_has_to_be() -> None:
    """Of 3 in 8 bits the factor 171 of 9 places: 0b10101011 / 2 ** 9."""
    assert (reciprocal(3, 255).factor, reciprocal(3, 255).shift) == (171, 9)


KINDS = {int8: np.int8, int32: np.int32, uint8: np.uint8, uint16: np.uint16, uint32: np.uint32}


@pytest.mark.parametrize("divisor", [3, 7, 10, 100])
@pytest.mark.parametrize("element", KINDS)
def test_the_same_bits(after, element, divisor: int) -> None:
    def kernel(A: element[256], Q: int32[256], R: int32[256]):
        for i in range(256):
            Q[i] = A[i] // divisor
            R[i] = A[i] % divisor

    s = allo.customize(kernel)
    made = after(s, "constant-division")
    text = str(made.module)
    assert "arith.muli" in text and not any(f"arith.{name}" in text for name in ("div", "floordiv", "rem"))
    kind = KINDS[element]
    ends = np.iinfo(kind)
    draw = np.random.default_rng(divisor)
    A = draw.integers(ends.min, ends.max, 256, dtype=np.int64, endpoint=True).astype(kind)
    A[:6] = [ends.min, ends.max, 0, 1, divisor, divisor - 1]
    for module in (s.ir, made.module):
        Q, R = np.zeros(256, np.int32), np.zeros(256, np.int32)
        MANIFEST.build(module, None, {})(A, Q, R)
        wanted = A.astype(np.int64)
        assert np.array_equal(Q, (wanted // divisor).astype(np.int32))
        assert np.array_equal(R, (wanted % divisor).astype(np.int32))


def test_what_is_said(after, told) -> None:
    def kernel(A: uint8[16], B: uint8[16]):
        for i in range(16):
            A[i] = A[i] // 10
            B[i] = B[i] // 8

    made = after(allo.customize(kernel), "constant-division")
    assert told(made) == ["constant-division: the quotient by 10 is made of a product"]
    assert str(made.module).count("arith.divui") == 1  # by a power of two: wires


def test_an_estimate_has_a_product_in_place_of_a_divider() -> None:
    def kernel(A: uint32[64], B: uint32[64]):
        for i in range(64):
            B[i] = A[i] // 10

    s = allo.customize(kernel)
    s.pipeline("i")
    before, after = (allo.estimate(s, rewrites=names) for names in ([], ["allo-constant-division"]))
    assert before.dsp == 0 and after.dsp > 0
    assert after.lut < before.lut / 2
    assert (after.cycles or 0) < (before.cycles or 0)
