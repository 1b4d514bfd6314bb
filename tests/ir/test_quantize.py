"""The modes of fixed point against the roundings of `decimal`, and against the ranges of the types."""

import decimal
import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import strategies as st

from allo.ir.quantize import mantissa, quantize
from allo.ir.types import OVERFLOWS, ROUNDINGS, Fixed, UFixed
from tests.seeds import drawn, sweep

BY_DECIMAL = {
    "trn": decimal.ROUND_FLOOR,
    "trn_zero": decimal.ROUND_DOWN,
    "rnd_zero": decimal.ROUND_HALF_DOWN,
    "rnd_inf": decimal.ROUND_HALF_UP,
    "rnd_conv": decimal.ROUND_HALF_EVEN,
}
EIGHTHS = [Fraction(k, 8) for k in range(-40, 41)]


@pytest.mark.parametrize("rounding", BY_DECIMAL)
def test_roundings_of_decimal(rounding: str) -> None:
    for value in EIGHTHS:
        exact = decimal.Decimal(value.numerator) / value.denominator
        assert mantissa(value, Fixed(8, 0, rounding)) == exact.to_integral_value(BY_DECIMAL[rounding])


def test_halves_up_and_down() -> None:
    for value in EIGHTHS:
        assert mantissa(value, Fixed(8, 0, "rnd")) == math.floor(value + Fraction(1, 2))
        assert mantissa(value, Fixed(8, 0, "rnd_min_inf")) == math.ceil(value - Fraction(1, 2))


@pytest.mark.parametrize(
    ("kind", "overflow", "above", "below"),
    [
        (Fixed, "wrap", 9 - 16, 7),
        (Fixed, "sat", 7, -8),
        (Fixed, "sat_zero", 0, 0),
        (Fixed, "sat_sym", 7, -7),
        (UFixed, "wrap", 9, 16 - 9),
        (UFixed, "sat", 9, 0),
        (UFixed, "sat_zero", 9, 0),
        (UFixed, "sat_sym", 9, 0),
    ],
)
def test_overflow(kind: type[Fixed | UFixed], overflow: str, above: int, below: int) -> None:
    assert (mantissa(9, kind(4, 0, overflow=overflow)), mantissa(-9, kind(4, 0, overflow=overflow))) == (above, below)


def test_the_least_number_is_not_symmetrical() -> None:
    assert [mantissa(-8, Fixed(4, 0, overflow=overflow)) for overflow in OVERFLOWS] == [-8, -8, -8, -7]


def test_rounding_comes_before_overflow() -> None:
    assert quantize(7.5, Fixed(4, 0, "rnd", "sat")) == 7
    assert quantize(7.5, Fixed(4, 0, "rnd")) == -8


def test_floats_that_are_no_numbers() -> None:
    kinds = [Fixed(4, 2, overflow=overflow) for overflow in OVERFLOWS]
    assert [quantize(math.nan, kind) for kind in kinds] == [0, 0, 0, 0]
    assert [quantize(math.inf, kind) for kind in kinds] == [0, Fraction(7, 4), 0, Fraction(7, 4)]
    assert [quantize(-math.inf, kind) for kind in kinds] == [0, -2, 0, -Fraction(7, 4)]


@sweep(3)
@drawn(34, st.fractions(), st.integers(1, 70), st.data())
def test_what_a_type_holds_stays(value: Fraction, width: int, data: st.DataObject) -> None:
    fracs = data.draw(st.integers(0, width))
    for kind, rounding, overflow in itertools.product((Fixed, UFixed), ROUNDINGS, OVERFLOWS):
        once = quantize(value, kind(width, fracs, rounding, overflow))
        assert quantize(once, kind(width, fracs, rounding, overflow)) == once


def test_the_type_names_what_is_not_default() -> None:
    assert repr(Fixed(8, 4)) == "Fixed(8, 4)"
    assert repr(UFixed(8, 4, overflow="sat")) == "UFixed(8, 4, overflow='sat')"
    assert repr(Fixed(8, 4, "rnd", "sat_sym")) == "Fixed(8, 4, rounding='rnd', overflow='sat_sym')"


@pytest.mark.parametrize("mode", ["round", 1, None])
def test_unknown_modes(mode: object) -> None:
    with pytest.raises(TypeError, match=r"Fixed takes rounding 'trn', .*, 'rnd_conv', got "):
        Fixed(8, 4, rounding=mode)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="UFixed takes overflow 'wrap', 'sat', 'sat_zero', 'sat_sym', got "):
        UFixed(8, 4, overflow=mode)  # type: ignore[arg-type]


@pytest.mark.parametrize(("kind", "wanted"), [(Fixed(8, 4), 1.25), (UFixed(60, 3), Fraction(5, 4)), (Fixed(8, 1), 1.0)])
def test_a_type_called_with_a_number_gives_what_it_holds(kind: Fixed | UFixed, wanted: float) -> None:
    """What more than 53 bits hold is a Fraction, since not all of it is a float."""
    for value in (1.3, Fraction(13, 10), np.float64(1.3), np.float32(1.3)):
        held = kind(value)
        expected = quantize(Fraction(float(value)) if isinstance(value, np.generic) else Fraction(value), kind)
        assert held == expected and type(held) is type(wanted)
    assert kind(np.float16(1.25)) == kind(1.25) == wanted
