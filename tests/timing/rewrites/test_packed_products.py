"""Pairs of products by one factor: the same bits from one DSP, and what is left."""

from __future__ import annotations

import numpy as np
import pytest

import allo
from allo.errors import TargetError
from allo.ir.types import Int, int8, int16, int32, uint8
from allo.target import load_target
from allo.timing.rewrites import Prepared, RewriteOptions, prepared
from tests.timing.rewrites.same_bits import MANIFEST

NAMES = ["allo-forward-stores", "cse", "allo-packed-products"]


def packed(s: allo.Schedule) -> Prepared:
    return prepared(s.ir, RewriteOptions(target=load_target("u280")), NAMES)


def two(A: int8[64], B: int8[64], C: int8[64], D: int32[64], E: int32[64]):
    for i in range(64):
        x: int8 = A[i]
        D[i] += x * B[i]
        E[i] += x * C[i]


def scheduled(kernel) -> allo.Schedule:
    s = allo.customize(kernel)
    s.pipeline("i")
    return s


def test_two_products_of_bytes_take_one_dsp() -> None:
    s = scheduled(two)
    before, found = allo.estimate(s), allo.estimate(s, rewrites=NAMES)
    assert (before.dsp, found.dsp) == (2, 1)
    assert found.loop("i").interval == 1 and found.cycles == before.cycles
    assert found.lut - before.lut == 25 + 16 - 16  # a sum of both factors, a difference; a unit less has no choice
    assert str(found.rewrites[-1]).endswith("this product and that of line 26 are made of one")
    code = s.build(target="vhls", rewrites=NAMES).hls_code
    assert code.count(" * ") == 1 and "<< ap_uint<33>(16ULL)" in code


@pytest.mark.parametrize(
    "kinds", [(int8, int8, int8), (uint8, int8, uint8), (Int(5), int8, uint8), (uint8, uint8, int8)]
)
def test_the_products_are_the_same(kinds) -> None:
    """All pairs of the ends of both ranges, and others."""
    one, other, third = kinds

    def kernel(A: one[512], B: other[512], C: third[512], D: int32[512], E: int16[512]):
        for i in range(512):
            D[i] = A[i] * B[i] + 3
            E[i] = C[i] * A[i]

    s = allo.customize(kernel)
    made = packed(s)
    assert "made of one" in str(made)
    draw = np.random.default_rng(7)

    def values(kind) -> np.ndarray:
        signed = not str(kind).startswith("u")
        bits = 5 if "5" in str(kind) else 8
        low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)
        drawn = draw.integers(low, high + 1, 512)
        drawn[:256] = draw.choice([low, high, 0, low + 1], 256)
        return drawn.astype(np.int8 if signed else np.uint8)

    given = [values(kind) for kind in kinds]
    found = []
    for module in (s.ir, made.module):
        results = [np.zeros(512, np.int32), np.zeros(512, np.int16)]
        MANIFEST.build(module, None, {})(*given, *results)
        found.append(results)
    for before, now in zip(*found, strict=True):
        assert np.array_equal(before, now)


def test_products_that_have_no_room_in_one_stay() -> None:
    def words(A: int16[64], B: int16[64], C: int16[64], D: int32[64], E: int32[64]):
        for i in range(64):
            D[i] = A[i] * B[i]
            E[i] = A[i] * C[i]

    s = allo.customize(words)
    assert packed(s).rewrites == ()
    assert allo.estimate(s, rewrites=NAMES).dsp == allo.estimate(s).dsp


def test_factors_that_are_not_there_yet(told) -> None:
    """What the second product multiplies may be in an element that is written between them."""

    def turned(A: int8[64], B: int8[64], C: int8[64], P: int32[64], D: int32[64]):
        for i in range(64):
            a: int8 = A[i]
            C[P[i]] = a * B[i]
            D[i] = a * C[i]

    (left,) = [text for text in told(packed(allo.customize(turned))) if "packed" in text]
    assert left.startswith("packed-products left it: what the product of line ")
    assert left.endswith(" multiplies is not there yet")


def test_products_of_products_are_two() -> None:
    def cubes(A: int8[64], B: Int(4)[64], D: int16[64], E: int32[64]):
        for i in range(64):
            a: int8 = A[i]
            b: int16 = a * B[i]
            D[i] = b
            E[i] = a * b

    assert "made of one" not in str(packed(allo.customize(cubes)))


def test_a_factor_that_is_written_in_between_is_another(told) -> None:
    def steps(A: int8[64], B: int8[64], C: int8[64], D: int32[64], E: int32[64]):
        for i in range(64):
            D[i] = A[0] * B[i]
            A[0] = A[0] + 1
            E[i] = A[0] * C[i]

    assert "made of one" not in str(packed(allo.customize(steps)))


def test_products_in_different_blocks_stay() -> None:
    def branch(A: int8[64], B: int8[64], C: int8[64], D: int32[64], E: int32[64]):
        for i in range(64):
            a: int8 = A[i]
            D[i] = a * B[i]
            if B[i] > 0:
                E[i] = a * C[i]

    assert "made of one" not in str(packed(allo.customize(branch)))


def test_three_products_are_a_pair_and_one() -> None:
    def three(A: int8[64], B: int8[64, 3], D: int32[64, 3]):
        for i in range(64):
            D[i, 0] = A[i] * B[i, 0]
            D[i, 1] = A[i] * B[i, 1]
            D[i, 2] = A[i] * B[i, 2]

    s = scheduled(three)
    s.partition("B", dim=2)
    s.partition("D", dim=2)
    assert (allo.estimate(s).dsp, allo.estimate(s, rewrites=NAMES).dsp) == (3, 2)


def test_names_of_rewrites_are_checked() -> None:
    s = scheduled(two)
    with pytest.raises(TargetError) as error:
        allo.estimate(s, rewrites="allo-packed-products")
    assert str(error.value).startswith("rewrites must be a list of names, got 'allo-packed-products'")
    with pytest.raises(TargetError) as error:
        allo.estimate(s, rewrites=["allo-packed-product"])
    assert str(error.value).startswith("no rewrite is called 'allo-packed-product'")
