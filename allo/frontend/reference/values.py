"""Values of kernels as Python has them, the conversions between their types, and the bits that they are.

Integers, truth values and `index` are `int` and `bool`, floats are NumPy scalars of their type, fixed-point numbers
are fractions, and structs are tuples of their fields.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import ml_dtypes
import numpy as np

from ...ir.quantize import mantissa, quantize
from ...ir.types import AlloType, Bool, Fixed, Float, Index, Int, Struct, UFixed, UInt, wrap

Value = Any
Convert = Callable[[Value], Value]

_FLOATS: dict[tuple[int, bool], Any] = {
    (16, False): np.float16,
    (16, True): ml_dtypes.bfloat16,
    (32, False): np.float32,
    (64, False): np.float64,
}
# digits, and the exponent of the least number that is not 0
_PRECISION = {
    (16, False): (11, -24),
    (16, True): (8, -133),
    (32, False): (24, -149),
    (64, False): (53, -1074),
}
_INDEX = Int(64)  # what `index` is where it is computed with


class NoValue(Exception):
    """An element or a variable that was read before it got a value; `what` names it, `direct` until it is used."""

    def __init__(self, what: str, at: Any) -> None:
        super().__init__(what)
        self.what = what
        self.at = at


@dataclass(frozen=True, slots=True)
class PartOfWord:
    """An integer of which only the bits in `known` have a value."""

    bits: int
    known: int


UNREADY = frozenset({type(None), PartOfWord})  # what a variable holds that has no value, or not all of it


def integer_type(scalar: AlloType) -> Int | UInt | None:
    """The integer type in whose range values of `scalar` are computed; None if it is none."""
    match scalar:
        case Int() | UInt():
            return scalar
        case Index():
            return _INDEX
        case Bool():
            return UInt(1)
    return None


def float_class(scalar: Float) -> Any:
    """The class of NumPy scalars of a float type."""
    return _FLOATS[scalar.width, scalar.brain]


def nearest(value: int | Fraction, scalar: Float) -> Any:
    """The float nearest to an exact number, of two the one with the even digit."""
    made = float_class(scalar)
    digits, least = _PRECISION[scalar.width, scalar.brain]
    if isinstance(value, int) and abs(value) >> digits == 0:
        return made(value)
    exact = Fraction(value)
    magnitude = abs(exact)
    if magnitude == 0:
        return made(0)
    exponent = magnitude.numerator.bit_length() - magnitude.denominator.bit_length()
    if magnitude < Fraction(2) ** exponent:
        exponent -= 1
    unit = Fraction(2) ** max(exponent - digits + 1, least)
    try:
        rounded = float(round(magnitude / unit) * unit)
    except OverflowError:
        rounded = math.inf
    return made(-rounded if exact < 0 else rounded)


# -- conversion -------------------------------------------------------------------------------------------


def conversion(source: AlloType, target: AlloType) -> Convert | None:
    """What an assignment makes of values of type `source` in `target`; None if it keeps them."""
    if source == target:
        return None
    match target:
        case Bool():
            return _to_bool
        case Float():
            return _to_float(source, target)
        case Fixed() | UFixed():
            return _to_fixed(source, target)
    whole = integer_type(target)
    assert whole is not None  # structs convert to nothing
    if isinstance(source, Float):
        return _saturation(whole)
    if isinstance(source, Fixed | UFixed):
        return lambda value: wrap(math.floor(value), whole)
    given = integer_type(source)
    assert given is not None
    if _holds(whole, given):
        return int if isinstance(source, Bool) else None
    return lambda value: wrap(int(value), whole)


def _holds(wide: Int | UInt, narrow: Int | UInt) -> bool:
    """Whether one integer type has all values of another one."""
    if isinstance(wide, Int):
        return wide.width >= narrow.width + (1 if isinstance(narrow, UInt) else 0)
    return isinstance(narrow, UInt) and wide.width >= narrow.width


def _to_bool(value: Value) -> bool:
    return bool(value != 0)


def _saturation(whole: Int | UInt) -> Convert:
    """From floats: toward zero, to the nearest number of the range, NaN to 0."""
    least = -(1 << whole.width - 1) if isinstance(whole, Int) else 0
    most = (1 << whole.width) - 1 + least

    def convert(value: Value) -> int:
        number = float(value)
        if math.isnan(number):
            return 0
        if math.isinf(number):
            return most if number > 0 else least
        return min(max(int(number), least), most)

    return convert


def _to_fixed(source: AlloType, target: Fixed | UFixed) -> Convert:
    if isinstance(source, Float):
        return lambda value: quantize(float(value), target)
    return lambda value: quantize(Fraction(value), target)


def _to_float(source: AlloType, target: Float) -> Convert:
    made = float_class(target)
    if isinstance(source, Float):
        if target.brain and source.width == 64:  # NumPy rounds to float32 first
            return lambda x: nearest(Fraction(float(x)), target) if np.isfinite(x) and x != 0 else made(x)
        if source.width == target.width:  # float16 and bfloat16
            return lambda value: made(np.float32(value))
        return lambda value: made(value)
    limit = 53 if isinstance(source, Fixed | UFixed) else 24 if target.brain else 64
    if source.bits <= limit or target.width == 64:
        return lambda value: nearest(value, target)
    double = Float(64)
    again = _to_float(double, target)
    return lambda value: again(nearest(value, double))


# -- bits -------------------------------------------------------------------------------------------------


def bits_of(scalar: AlloType, value: Value) -> int:
    """The bits of a value, as memory has them. Raises NoValue for one that has none."""
    if type(value) in UNREADY:
        raise NoValue("", None)
    match scalar:
        case Struct():
            packed = offset = 0
            for (_, field), part in zip(scalar.fields, value, strict=True):
                packed |= bits_of(field, part) << offset
                offset += field.bits
            return packed
        case Fixed() | UFixed():
            plain = type(scalar)(scalar.width, scalar.fracs)
            return mantissa(value, plain) & ((1 << scalar.width) - 1)
        case Float():
            return int.from_bytes(np.array(value, float_class(scalar)).tobytes(), "little")
    whole = integer_type(scalar)
    assert whole is not None
    return int(value) & ((1 << whole.width) - 1)


def of_bits(scalar: AlloType, bits: int) -> Value:
    """The value of type `scalar` that has these bits."""
    match scalar:
        case Struct():
            fields, offset = [], 0
            for _, field in scalar.fields:
                fields.append(of_bits(field, bits >> offset & ((1 << field.bits) - 1)))
                offset += field.bits
            return tuple(fields)
        case Fixed() | UFixed():
            whole: Int | UInt = (Int if isinstance(scalar, Fixed) else UInt)(scalar.width)
            return Fraction(wrap(bits, whole), 1 << scalar.fracs)
        case Float():
            return np.frombuffer(bits.to_bytes(scalar.bits // 8, "little"), float_class(scalar))[0]
        case Bool():
            return bool(bits)
    word = integer_type(scalar)
    assert word is not None
    return wrap(bits, word)


def constant_value(scalar: AlloType, value: Value) -> Value:
    """The value of a typed constant, which is a value of its type already."""
    match scalar:
        case Float():
            return float_class(scalar)(value)
        case Fixed() | UFixed():
            return Fraction(value)
        case Bool():
            return bool(value)
    return int(value)
