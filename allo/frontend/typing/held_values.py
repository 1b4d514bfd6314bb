"""Representability of constants: whether a declared type holds the numbers of a constant array."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

from ...ir.arrays import numpy_dtype
from ...ir.quantize import greatest_mantissa, least_mantissa
from ...ir.types import AlloType, Bool, Fixed, Float, Index, Int, UFixed, UInt
from ...ir.words import is_signed
from .convert import nearest_float

Array = np.ndarray[Any, Any]
CONVERT = "give the array a type for its numbers, or convert them outside of the kernel: `array.astype(...)`"


def not_held(array: Array, element: AlloType, name: str) -> str | None:
    """What is wrong with the first number that would become another one in `element`, None if there is none.

    Digits behind the point may be rounded where the type has some.
    """
    if array.dtype.names is not None or array.dtype.kind not in "biufVO":
        return None
    flags = _wrong(array, element)
    places = np.argwhere(flags) if flags is not None else np.empty((0, 0))
    if not len(places):
        return None
    place = tuple(int(position) for position in places[0])
    value = array[place]
    shown = value.item() if isinstance(value, np.generic) else value
    what = f"element [{', '.join(map(str, place))}]" if place else "the value"
    return f"{what} of '{name}' is {shown}, which {element!r} does not hold{_range(element, shown)}"


def _wrong(array: Array, element: AlloType) -> Array | None:
    """Which numbers the type does not hold; None for a type that takes only its own."""
    match element:
        case Bool():
            return np.asarray((array != 0) & (array != 1))
        case Int() | UInt() | Index():
            least, greatest = _limits(element)
            return _outside(array, least, greatest) | _has_digits(array)
        case Fixed() | UFixed() if element.overflow == "wrap":
            half = Fraction(0) if element.rounding.startswith("trn") else Fraction(1, 2)
            unit = Fraction(1, 1 << element.fracs)
            least_number = (least_mantissa(element) - half) * unit
            return _outside(array, least_number, (greatest_mantissa(element) + 1 - half) * unit, below=True)
        case Float():
            return _overflowing(array, element)
    return None


def _overflowing(array: Array, element: Float) -> Array:
    """Which finite numbers become infinite."""
    if array.dtype.kind == "O":
        flags = np.zeros(array.shape, np.bool_)
        for place in np.ndindex(array.shape):
            number: Any = array[place]
            flags[place] = math.isinf(nearest_float(number, element)) and math.isfinite(number)
        return flags
    dtype = numpy_dtype(element)
    assert dtype is not None
    with np.errstate(over="ignore"):
        narrow = array.astype(dtype).astype(np.float64)
        return np.asarray(np.isinf(narrow) & np.isfinite(array.astype(np.float64)))


def _limits(element: Int | UInt | Index) -> tuple[int, int]:
    width = 64 if isinstance(element, Index) else element.width
    least = -(1 << width - 1) if is_signed(element) else 0
    return least, least + (1 << width) - 1


def _outside(array: Array, least: int | Fraction, greatest: int | Fraction, below: bool = False) -> Array:
    """Which numbers are less than `least` or greater than `greatest` (or not below it); NaN and infinities are."""

    def is_outside(value: Any) -> bool:
        number = value.item() if isinstance(value, np.generic) else value
        if isinstance(number, float) and not math.isfinite(number):
            return True
        return bool(number < least or number > greatest or (below and number == greatest))

    if array.size and array.dtype.kind in "biuf" and not any(map(is_outside, (array.min(), array.max()))):
        return np.zeros(array.shape, np.bool_)
    flags = np.zeros(array.shape, np.bool_)
    for place in np.ndindex(array.shape):
        flags[place] = is_outside(array[place])
    return flags


def _has_digits(array: Array) -> Array:
    if array.dtype.kind in "biu":
        return np.zeros(array.shape, np.bool_)
    if array.dtype.kind != "O":
        numbers = array.astype(np.float64)
        return np.asarray(np.floor(numbers) != numbers)
    flags = np.zeros(array.shape, np.bool_)
    for place in np.ndindex(array.shape):
        flags[place] = array[place] != math.floor(array[place])
    return flags


def _range(element: AlloType, value: Any) -> str:
    """The range of an integer type, if the number is outside of it."""
    if not isinstance(element, Int | UInt) or element.width > 64:
        return ""
    least, greatest = _limits(element)
    return "" if least <= value <= greatest else f": it is from {least} to {greatest}"
