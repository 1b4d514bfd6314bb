"""Pairs of programs that are made to deceive the verifier: what is equal is never called different, nor the reverse."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import allo
from allo.ir.types import (
    Fixed,
    Int,
    bfloat16,
    float16,
    float32,
    int8,
    int32,
    int64,
    uint8,
    uint32,
)
from allo.verify import Different, Equivalent, Unknown

NARROW, SATURATING, ROUNDING = Fixed(8, 4), Fixed(8, 4, overflow="sat"), Fixed(8, 4, rounding="rnd")
WIDE = Int(100)

type Kernel = Callable[..., Any]


def case(name: str, first: Kernel, second: Kernel) -> Any:
    return pytest.param(first, second, id=name)


# -- numbers ---------------------------------------------------------------------------------------


def same_float(x: float32[4], z: float32[4]):
    for i in range(4):
        z[i] = x[i]


def plus_zero(x: float32[4], z: float32[4]):
    for i in range(4):
        z[i] = x[i] + 0.0


def minus_zero(x: float32[4], z: float32[4]):
    for i in range(4):
        z[i] = x[i] - 0.0


def minus_negative_zero(x: float32[4], z: float32[4]):
    for i in range(4):
        z[i] = x[i] - (-0.0)


def times_one(x: float32[4], z: float32[4]):
    for i in range(4):
        z[i] = 1.0 * x[i]


def from_zero(x: float32[4], z: float32[4]):
    for i in range(4):
        z[i] = 0.0 - x[i]


def negated(x: float32[4], z: float32[4]):
    for i in range(4):
        z[i] = -x[i]


def zero_by_difference(x: float32[4], z: float32[4]):
    for i in range(4):
        z[i] = x[i] - x[i]


def zero(x: float32[4], z: float32[4]):
    for i in range(4):
        z[i] = 0.0


def tenth(x: float32[4], z: float32[4]):
    for i in range(4):
        z[i] = x[i] * 0.1


def over_ten(x: float32[4], z: float32[4]):
    for i in range(4):
        z[i] = x[i] / 10.0


def through_half(x: float32[4], z: float32[4]):
    for i in range(4):
        t: float16 = x[i]
        z[i] = t


def less(x: float32[4], y: float32[4], z: int32[4]):
    for i in range(4):
        z[i] = 1 if x[i] < y[i] else 0


def not_at_least(x: float32[4], y: float32[4], z: int32[4]):
    for i in range(4):
        z[i] = 0 if x[i] >= y[i] else 1


def not_less(x: float32[4], y: float32[4], z: int32[4]):
    for i in range(4):
        z[i] = 0 if not (x[i] < y[i]) else 1


def kept_if_positive(x: float32[4], z: float32[4]):
    for i in range(4):
        if x[i] > 0.0:
            z[i] = x[i]
        else:
            z[i] = 0.0


def dropped_unless_positive(x: float32[4], z: float32[4]):
    for i in range(4):
        if x[i] <= 0.0:
            z[i] = 0.0
        else:
            z[i] = x[i]


def greatest(x: float32[4], y: float32[4], z: float32[4]):
    for i in range(4):
        z[i] = max(x[i], y[i])


def greatest_chosen(x: float32[4], y: float32[4], z: float32[4]):
    for i in range(4):
        z[i] = x[i] if x[i] > y[i] else y[i]


def quarter(x: int32[4], z: int32[4]):
    for i in range(4):
        z[i] = x[i] // 4


def shifted(x: int32[4], z: int32[4]):
    for i in range(4):
        z[i] = x[i] >> 2


def rest(x: int32[4], z: int32[4]):
    for i in range(4):
        z[i] = x[i] % 8


def low_bits(x: int32[4], z: int32[4]):
    for i in range(4):
        z[i] = x[i] & 7


def quotient(x: int32[4], y: int32[4], z: int32[4]):
    for i in range(4):
        z[i] = x[i] // y[i]


def quotient_or_zero(x: int32[4], y: int32[4], z: int32[4]):
    for i in range(4):
        z[i] = x[i] // y[i] if y[i] != 0 else 0


def square(x: int32[4], z: int64[4]):
    for i in range(4):
        z[i] = x[i] * x[i]


def square_of_int32(x: int32[4], z: int64[4]):
    for i in range(4):
        t: int32 = x[i] * x[i]
        z[i] = t


def below(x: uint32[4], y: uint32[4], z: int32[4]):
    for i in range(4):
        z[i] = 1 if x[i] < y[i] else 0


def below_with_sign(x: uint32[4], y: uint32[4], z: int32[4]):
    for i in range(4):
        a: int32 = x[i]
        b: int32 = y[i]
        z[i] = 1 if a < b else 0


def highest_bit(x: int8[4], z: int32[4]):
    for i in range(4):
        z[i] = x[i][7]


def sign(x: int8[4], z: int32[4]):
    for i in range(4):
        z[i] = x[i] >> 7


def halves_swapped(x: uint8[4], z: uint8[4]):
    for i in range(4):
        z[i][0:4] = x[i][4:8]
        z[i][4:8] = x[i][0:4]


def rotated(x: uint8[4], z: uint8[4]):
    for i in range(4):
        z[i] = (x[i] >> 4) | (x[i] << 4)


def lower_half(x: uint8[4], z: uint8[4]):
    for i in range(4):
        z[i][0:4] = x[i][4:8]


def wide_product(x: WIDE[4], y: WIDE[4], z: WIDE[4]):
    for i in range(4):
        z[i] = x[i] * y[i]


def wide_product_turned(x: WIDE[4], y: WIDE[4], z: WIDE[4]):
    for i in range(4):
        z[i] = y[i] * x[i] + 0


def wide_product_with_sign(x: WIDE[4], y: WIDE[4], z: WIDE[4]):
    for i in range(4):
        z[i] = x[i] * y[i] + (x[i] >> 99)


# -- fixed point -----------------------------------------------------------------------------------


def fixed_sum(x: NARROW[4], y: NARROW[4], z: NARROW[4]):
    for i in range(4):
        z[i] = x[i] + y[i]


def fixed_sum_saturated(x: NARROW[4], y: NARROW[4], z: NARROW[4]):
    for i in range(4):
        t: SATURATING = x[i] + y[i]
        z[i] = t


def fixed_sum_saturated_turned(x: NARROW[4], y: NARROW[4], z: NARROW[4]):
    for i in range(4):
        t: SATURATING = y[i] + x[i]
        z[i] = t


def narrowed(x: Fixed(16, 8)[4], z: NARROW[4]):
    for i in range(4):
        z[i] = x[i]


def rounded(x: Fixed(16, 8)[4], z: NARROW[4]):
    for i in range(4):
        t: ROUNDING = x[i]
        z[i] = t


def first_by_second(x: NARROW[4], y: NARROW[4], z: NARROW[4]):
    for i in range(4):
        t: NARROW = x[i] * y[i]
        z[i] = t * y[i]


def second_squared(x: NARROW[4], y: NARROW[4], z: NARROW[4]):
    for i in range(4):
        t: NARROW = y[i] * y[i]
        z[i] = t * x[i]


# -- sums ------------------------------------------------------------------------------------------


def sums_of_pairs(x: int32[4], y: int32[4], z: int32[4]):
    for i, k in allo.grid(4, 4):
        z[i] += x[i] + y[k]


def sums_with_bits_of_one(x: int32[4], y: int32[4], z: int32[4]):
    for i, k in allo.grid(4, 4):
        one: float32 = 1.0
        z[i] += y[3 - k] + x[i] * one.bitcast(int32)


def products(x: float32[4], y: float32[4], z: float32[4]):
    for i, k in allo.grid(4, 4):
        z[i] += x[i] * y[k]


def products_with_bits_of_one(x: float32[4], y: float32[4], z: float32[4]):
    for i, k in allo.grid(4, 4):
        one: int32 = 1
        z[i] += x[i] * one.bitcast(float32) * y[3 - k]


# -- elements that nothing has written, and that do not exist ---------------------------------------


def first_argument(x: int32[4], y: int32[4], z: int32[4]):
    for i in range(4):
        z[i] = x[i]


def chosen_by_two_of_nothing(x: int32[4], y: int32[4], z: int32[4]):
    u: int32[2]
    for i in range(4):
        z[i] = (x[i] if u[0] > 0 else y[i]) if u[1] > 0 else x[i]  # noqa: F821


def same_nothing(x: int32[4], y: int32[4], z: int32[4]):
    u: int32[2]
    for i in range(4):
        z[i] = x[i] + (u[0] - u[0])  # noqa: F821


def two_of_nothing(x: int32[4], y: int32[4], z: int32[4]):
    u: int32[2]
    for i in range(4):
        z[i] = x[i] + (u[0] - u[1])  # noqa: F821


def nothing_and_before(x: int32[4], y: int32[4], z: int32[4]):
    last: int32[1] = 0
    for i in range(4):
        u: int32[1]
        z[i] = x[i] if u[0] == last[0] or i == 0 else y[i]  # noqa: F821
        last[0] = u[0]  # noqa: F821


def nothing_and_itself(x: int32[4], y: int32[4], z: int32[4]):
    last: int32[1] = 0
    u: int32[1]
    for i in range(4):
        z[i] = x[i] if u[0] == last[0] or i == 0 else y[i]  # noqa: F821
        last[0] = u[0]  # noqa: F821


def beyond_in_branch(x: int32[4], y: int32[4], z: int32[4]):
    for i in range(4):
        z[i] = x[i]
        if y[i] > 0:
            unused: int32 = x[i + 100]  # noqa: F841


def next_if_positive(x: int32[4], y: int32[4], z: int32[4]):
    for i in range(4):
        if x[i] > 0:
            z[i] = x[i + 1]


def next_if_positive_backwards(x: int32[4], y: int32[4], z: int32[4]):
    for i in range(4):
        if x[3 - i] > 0:
            z[3 - i] = x[4 - i]


def next_if_not_negative(x: int32[4], y: int32[4], z: int32[4]):
    for i in range(4):
        if x[i] >= 0:
            t: int32 = x[i + 1]
            if x[i] > 0:
                z[i] = t


EQUAL = [
    case("the same unwritten element twice", first_argument, same_nothing),
    case("outside of the array under the same conditions", next_if_positive, next_if_positive_backwards),
    case("minus 0.0", minus_zero, same_float),
    case("times 1.0", times_one, same_float),
    case("not less", less, not_less),
    case("floor division", quarter, shifted),
    case("remainder", rest, low_bits),
    case("nibbles", halves_swapped, rotated),
    case("wide product", wide_product, wide_product_turned),
    case("saturated sum", fixed_sum_saturated, fixed_sum_saturated_turned),
]
DIFFERENT = [
    case("unused element outside of the array", first_argument, beyond_in_branch),
    case("plus 0.0", same_float, plus_zero),
    case("minus -0.0", same_float, minus_negative_zero),
    case("0.0 minus", negated, from_zero),
    case("difference of infinities", zero, zero_by_difference),
    case("a tenth", tenth, over_ten),
    case("half precision", same_float, through_half),
    case("comparison with NaN", less, not_at_least),
    case("branch on NaN", kept_if_positive, dropped_unless_positive),
    case("maximum of NaN", greatest, greatest_chosen),
    case("division by zero", quotient, quotient_or_zero),
    case("product cut off", square, square_of_int32),
    case("comparison without sign", below, below_with_sign),
    case("bit of the sign", highest_bit, sign),
    case("one nibble", halves_swapped, lower_half),
    case("100 bits", wide_product, wide_product_with_sign),
    case("saturation", fixed_sum, fixed_sum_saturated),
    case("rounding", narrowed, rounded),
    case("rounding in between", first_by_second, second_squared),
    case("bits of a float as a factor", sums_of_pairs, sums_with_bits_of_one),
]


NOT_EQUAL = [  # runs do not show it: there, what nothing has written is the same everywhere
    case("two unwritten elements choose", first_argument, chosen_by_two_of_nothing),
    case("difference of two unwritten elements", same_nothing, two_of_nothing),
    case("an array that is made in each iteration", nothing_and_itself, nothing_and_before),
    case("outside of the array under more conditions", next_if_positive, next_if_not_negative),
]


@pytest.mark.parametrize(("first", "second"), EQUAL)
def test_equal(first: Kernel, second: Kernel) -> None:
    assert isinstance(allo.verify(first, second), Equivalent)
    assert not isinstance(allo.verify(first, second, method="differential"), Different)


@pytest.mark.parametrize(("first", "second"), DIFFERENT)
def test_different(first: Kernel, second: Kernel) -> None:
    assert isinstance(allo.verify(first, second), Different)
    for method in ("affine", "concrete"):
        assert not isinstance(allo.verify(first, second, method=method), Equivalent)


@pytest.mark.parametrize(("first", "second"), NOT_EQUAL)
def test_not_equal(first: Kernel, second: Kernel) -> None:
    for method in ("auto", "affine", "concrete"):
        assert not isinstance(allo.verify(first, second, method=method), Equivalent)


def test_bits_of_an_integer_are_no_factor_of_floats() -> None:
    assert isinstance(allo.verify(products, products_with_bits_of_one, reassociate=True), Different)


SUM = """module attributes {allo.top = "k"} {
  func.func @k(%%x: memref<4xi32> {allo.name = "x"}, %%y: memref<4xi32> {allo.name = "y"}) {
    affine.for %%i = 0 to 4 {
      %%a = affine.load %%x[%%i] : memref<4xi32>
      %%s = arith.addi %%a, %%a %s : i32
      affine.store %%s, %%y[%%i] : memref<4xi32>
    } {allo.name = "i"}
    return
  }
}
"""
PRODUCT = """module attributes {allo.top = "k"} {
  func.func @k(%%x: memref<4xf32> {allo.name = "x"}, %%y: memref<4xf32> {allo.name = "y"}) {
    affine.for %%i = 0 to 4 {
      %%a = affine.load %%x[%%i] : memref<4xf32>
      %%s = arith.mulf %%a, %%a %s : f32
      affine.store %%s, %%y[%%i] : memref<4xf32>
    } {allo.name = "i"}
    return
  }
}
"""


@pytest.mark.parametrize(
    ("text", "flag", "told"),
    [
        (SUM, "overflow<nsw>", "`arith.addi` with `#arith.overflow<nsw>`"),
        (PRODUCT, "fastmath<nnan>", "`arith.mulf` with `#arith.fastmath<nnan>`"),
    ],
    ids=["sum that does not overflow", "product that is a number"],
)
def test_an_operation_that_leaves_results_open_is_equal_to_itself_only(text: str, flag: str, told: str) -> None:
    plain, open_ = text % "", text % flag
    assert isinstance(allo.verify(open_, open_), Equivalent)
    result = allo.verify(plain, open_)
    assert isinstance(result, Unknown)
    assert [line.removesuffix(" (line 5)") for line in result.tried[:2]] == [
        f"array dataflow graphs of any size: {told} is not understood",
        f"concrete computation graphs: {told} is not understood",
    ]


@pytest.mark.parametrize(("T", "N"), [(float16, 4096), (bfloat16, 1024)], ids=str)
def test_sums_with_short_mantissas_stagnate(T: Any, N: int) -> None:
    """Terms of a long sum are lost; in another order fewer are, which `reassociate` allows."""

    def straight(x: T[N]) -> T:
        total: T = 0.0
        for i in range(N):
            total += x[i]
        return total

    def in_blocks(x: T[N]) -> T:
        total: T = 0.0
        for i in range(N // 32):
            part: T = 0.0
            for j in range(32):
                part += x[32 * i + j]
            total += part
        return total

    assert isinstance(allo.verify(straight, in_blocks), Different)
    result = allo.verify(straight, in_blocks, reassociate=True, method="differential")
    assert isinstance(result, Unknown)
