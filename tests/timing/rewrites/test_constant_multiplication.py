"""Products by constants: canonical signed digits, as many sums as are cheaper than a multiplier."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

import allo
from allo.ir.types import int8, int16, int32
from allo.timing.rewrites.constant_multiplication import signed_digits
from tests.timing.rewrites.same_bits import MANIFEST


@pytest.mark.parametrize("width", [1, 5, 8, 33])
def test_digits(width: int) -> None:
    for number in [*range(-40, 40), (1 << width) - 1, 1 << (width - 1)]:
        digits = signed_digits(number, width)
        assert sum(sign << place for place, sign in digits) % (1 << width) == number % (1 << width)
        places = [place for place, _ in digits]
        assert all(second - first > 1 for first, second in pairwise(places))
        assert all(0 <= place < width for place in places)


@pytest.mark.parametrize("constant", [3, 5, 7, 15, 23, 100, -3, -7, -100, 12345, -1, 0, 8])
@pytest.mark.parametrize("element", [int8, int16, int32])
def test_the_product_is_the_same(after, element, constant: int) -> None:
    def kernel(A: element[64], B: int32[64]):
        for i in range(64):
            B[i] = A[i] * constant

    s = allo.customize(kernel)
    made = after(s, "constant-multiplication")
    kind = {"int8": np.int8, "int16": np.int16, "int32": np.int32}[str(element)]
    A = np.random.default_rng(constant % 97).integers(-128, 128, 64).astype(kind)
    found = []
    for module in (s.ir, made.module):
        B = np.zeros(64, np.int32)
        MANIFEST.build(module, None, {})(A, B)
        found.append(B)
    assert np.array_equal(*found)


def scaled(A: int32[64]):
    for i in range(64):
        A[i] = A[i] * 7


def test_seven_is_eight_less_one(after, told) -> None:
    made = after(allo.customize(scaled), "constant-multiplication")
    text = str(made.module)
    assert [text.count(name) for name in ("arith.muli", "arith.shli", "arith.subi")] == [0, 1, 1]
    assert told(made) == ["constant-multiplication: the product by 7 is made of 1 sums"]


def test_what_a_multiplier_does_as_cheaply_stays(after, told) -> None:
    def kernel(A: int8[64]):
        for i in range(64):
            A[i] = A[i] * 0b1010101

    made = after(allo.customize(kernel), "constant-multiplication")
    assert any("cost as much as a multiplier" in text for text in told(made)) == ("arith.muli" in str(made.module))


def test_without_a_target_multipliers_stay(after) -> None:
    assert "arith.muli" in str(after(allo.customize(scaled), "constant-multiplication", target=None).module)
