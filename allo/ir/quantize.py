"""Quantisation to fixed point: exact rounding and overflow, on integers and fractions.

The modes are those of HLS fixed point (`ap_fixed<W, I, Q, O>`), by their names in lower case without `AP_`.
"""

from __future__ import annotations

import math
from fractions import Fraction

from .types import Fixed, Int, UFixed, UInt, wrap

FixedPoint = Fixed | UFixed


def least_mantissa(target: FixedPoint) -> int:
    """The least mantissa that a conversion to `target` gives."""
    if isinstance(target, UFixed):
        return 0
    top = 1 << (target.width - 1)
    return 1 - top if target.overflow == "sat_sym" else -top


def greatest_mantissa(target: FixedPoint) -> int:
    """The greatest mantissa of `target`."""
    return (1 << (target.width - (1 if isinstance(target, Fixed) else 0))) - 1


def mantissa(value: int | float | Fraction, target: FixedPoint) -> int:
    """`value` as a number of type `target`, times 2**fracs. NaN becomes 0, an infinity wraps to 0 or saturates."""
    if isinstance(value, float) and not math.isfinite(value):
        infinity = not math.isnan(value) and target.overflow != "wrap"
        return _limit(math.inf if value > 0 else -math.inf, target) if infinity else 0
    exact = Fraction(value)
    exact = Fraction(exact.numerator << target.fracs, exact.denominator)
    rounded = _round(exact, target.rounding)
    if target.overflow == "wrap":
        return wrap(rounded, (Int if isinstance(target, Fixed) else UInt)(target.width))
    return _limit(rounded, target)


def quantize(value: int | float | Fraction, target: FixedPoint) -> Fraction:
    """`value` as a variable of type `target` holds it."""
    return Fraction(mantissa(value, target), 1 << target.fracs)


def _round(value: Fraction, rounding: str) -> int:
    below = math.floor(value)
    rest = value - below
    half = Fraction(1, 2)
    match rounding:
        case "trn":
            up = False
        case "trn_zero":
            up = rest > 0 and value < 0
        case "rnd":
            up = rest >= half
        case "rnd_min_inf":
            up = rest > half
        case "rnd_zero":
            up = rest > half or (rest == half and value < 0)
        case "rnd_inf":
            up = rest > half or (rest == half and value > 0)
        case _:  # "rnd_conv": to even
            up = rest > half or (rest == half and below % 2 == 1)
    return below + int(up)


def _limit(value: int | float, target: FixedPoint) -> int:
    least, greatest = least_mantissa(target), greatest_mantissa(target)
    if least <= value <= greatest:
        return int(value)
    if target.overflow == "sat_zero":
        return 0
    return greatest if value > greatest else least
