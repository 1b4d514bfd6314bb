"""Fixed point against exact fractions: conversions truncate toward minus infinity and wrap, the rest is exact."""

import math
from fractions import Fraction

from hypothesis import given, settings
from hypothesis import strategies as st

import allo
from allo.ir.types import Fixed, UFixed, bool, float64, int32

Q, U, WIDE = Fixed(12, 5), UFixed(9, 3), Fixed(40, 16)


def operate(a: float64, b: float64, n: int32) -> (float64, float64, float64, float64, float64, bool, int32):
    x: Q = a
    y: U = b
    total: WIDE = x + y - n
    product: WIDE = x * y
    quotient: WIDE = x / y
    return total, product, quotient, min(x, y), x, x < y, x


BUILT = allo.customize(operate).build()


def convert(value: float, width: int, fracs: int, signed: object) -> Fraction:
    mantissa = math.floor(Fraction(value) * 2**fracs) % 2**width
    if signed and mantissa >= 2 ** (width - 1):
        mantissa -= 2**width
    return Fraction(mantissa, 2**fracs)


@settings(derandomize=True, max_examples=200, deadline=None)
@given(
    st.floats(-100, 100, allow_nan=False), st.floats(0.25, 60, allow_nan=False), st.integers(-1000, 1000)
)
def test_against_fractions(a: float, b: float, n: int) -> None:
    x, y = convert(a, 12, 5, True), convert(b, 9, 3, False)
    quotient = Fraction(math.floor(x / y * 2**5), 2**5)
    expected = (x + y - n, x * y, quotient, min(x, y), x, x < y, math.floor(x))
    assert BUILT(a, b, n) == expected


def divide(a: float64, b: float64) -> float64:
    x: Q = a
    y: Q = b
    return x / y


def test_division_by_zero_does_not_end_the_process() -> None:
    assert math.isfinite(allo.customize(divide).build()(1.0, 0.0))


def table(i: int32) -> float64:
    values: Q[4] = 0
    for k in range(4):
        values[k] = k * 0.75
    return values[i]


def test_local_arrays() -> None:
    built = allo.customize(table).build()
    assert [built(i) for i in range(4)] == [0.0, 0.75, 1.5, 2.25]
