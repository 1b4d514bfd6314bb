"""The functions of double floats: each takes and gives bits, as integers of 64 bits with a sign.

They are written as those of single floats are (`functions.py`), with products of 128 bits. Results are within 0.51
units in the last place.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from .double_tables import (
    Polynomials,
    cosines,
    cotangents,
    doublings,
    exact_logarithms,
    hyperbolic_tangents,
    logarithms,
    powers_of_two,
    quarter_turns,
    reciprocals,
    sines,
    tangents,
)
from .functions import Arithmetic, Number, split
from .tables import WordTable, log2_of_e, log_of_2

_MAGNITUDE, _FRACTION, _HIDDEN = (1 << 63) - 1, (1 << 52) - 1, 1 << 52
_INFINITY, _NAN, _ONE = 0x7FF << 52, 0xFFF << 51, 0x3FF << 52
_POINT = 62  # binary digits behind the point, in 64 bits with a sign
_BELOW = (1 << _POINT) - 1
_LIMB = (1 << 60) - 1
_TURNS = 126  # binary digits behind the point of what whole quarter turns leave
_SMALL = 996 << 52  # 2 ** -27: smaller angles are their own sines


def _parts(x: Number) -> tuple[Number, Number, Number]:
    """The magnitude, its exponent as it is stored, and its 53 digits, of normal numbers."""
    magnitude = x & _MAGNITUDE
    return magnitude, magnitude >> 52, (magnitude & _FRACTION) + _HIDDEN


def _with_sign(o: Arithmetic, bits: Number, negative: Any) -> Number:
    """The bits of a float that is not negative, with a sign."""
    return o.select(negative, bits - (1 << 62) - (1 << 62), bits)


def _look_up(o: Arithmetic, tables: tuple[WordTable, ...], index: Number) -> list[Number]:
    return [o.look_up(table, index) for table in tables]


def _polynomial(o: Arithmetic, polynomials: Polynomials, piece: Number, t: Number, width: int) -> Number:
    """c0 + (c1 + ...) * t of a place in a piece, t in 0 <= t < 1 with so many digits: of t, as many as what it is
    multiplied by has."""
    tables, digits = polynomials.tables, polynomials.digits
    total, bits = o.look_up(tables[-1], piece), tables[-1].bits + 1
    for power in reversed(range(len(tables) - 1)):
        used = min(width, bits)
        factor = t >> (width - used) if used < width else t
        shift = used + digits[power + 1] - digits[power]
        is_short = bits + used < 64
        product = total * factor >> shift if is_short else o.narrow(o.wide(total) * o.wide(factor) >> shift)
        total, bits = o.look_up(tables[power], piece) + product, tables[power].bits + 1
    return total


def _normal(o: Arithmetic, number: Number) -> tuple[Number, Number]:
    """The upper digits of a number in 0 <= number < 2 ** 126, 62 or 63 of them if it has so many, and how many others
    it has."""
    high = o.narrow(number >> 63)
    others = o.greatest((o.nearest(high) >> 23) - 126, 0) & 127
    return o.narrow(number >> others), others


def exp(o: Arithmetic, x: Number) -> Number:
    """e ** x = 2 ** (x * log2(e))."""
    magnitude, exponent, mantissa = _parts(x)
    negative, wide = o.less(x, 0), o.wide(mantissa)
    upper, lower = log2_of_e(72) >> 36, log2_of_e(72) & ((1 << 36) - 1)
    product = (wide * upper << 36) + wide * lower
    product = product >> (o.least(o.greatest(1085 - exponent, 53), 127) & 127)
    product = o.select(negative, -product, product)
    bits = _power_of_two(o, o.narrow(product >> _POINT), o.narrow(product & _BELOW))
    bits = o.select(o.less(1032, exponent), o.select(negative, 0, _INFINITY), bits)
    return o.select(o.less(_INFINITY, magnitude), _NAN, bits)


def _power_of_two(o: Arithmetic, whole: Number, fraction: Number) -> Number:
    """2 ** whole * 2 ** fraction, of a whole number of at most 13 bits and 62 digits."""
    power = _polynomial(o, powers_of_two(), fraction >> 54, fraction & ((1 << 54) - 1), 54)  # from 1 to 2
    below = o.greatest(o.least(-1022 - whole, 54), 0)  # the least exponent of a normal number
    rounded = ((power >> (below + 9 & 63)) + 1) >> 1
    bits = (o.least(o.greatest(whole + 1022, 0), 2045) << 52) + rounded
    return o.select(o.less(1023, whole), _INFINITY, bits)


def _place(d: Number) -> tuple[Number, Number]:
    """Of tables in 384 pieces of -1/4 <= d < 1/2: which one, and 44 digits of the place in it."""
    place = d + (1 << 51)
    return place >> 44, place & ((1 << 44) - 1)


def _logarithm(base: int | None) -> Callable[[Arithmetic, Number], Number]:
    def log(o: Arithmetic, x: Number) -> Number:
        """log(2 ** n * (1 + d)) = n * log(2) + d * (log(1 + d) / d)."""
        magnitude = x & _MAGNITUDE
        whole, d = split(o, magnitude, 52, 1023, o.nearest_double)
        quotient = _polynomial(o, logarithms(base), *_place(d), 44)
        point = _POINT + doublings(base)
        total = (o.wide(whole) * log_of_2(base, point) << 53) + o.wide(d) * o.wide(quotient)
        falls = o.less(total, 0)
        number, others = _normal(o, o.select(falls, -total, total))
        bits = o.nearest_double(number) + (others - (point + 53) << 52)
        bits = o.select(o.equal(number, 0), 0, _with_sign(o, bits, falls))
        bits = o.select(o.less(magnitude, _INFINITY), bits, _INFINITY)
        bits = o.select(o.less(x, 0), _NAN, bits)
        bits = o.select(o.equal(magnitude, 0), -(1 << 52), bits)
        return o.select(o.less(_INFINITY, magnitude), _NAN, bits)

    return log


def power(o: Arithmetic, x: Number, y: Number) -> Number:
    """2 ** (y * log2(x)), with the special values of C."""
    base, (magnitude, exponent, mantissa) = x & _MAGNITUDE, _parts(y)
    negative, falls = o.less(x, 0), o.less(y, 0)
    bits = _power_of_two(o, *_times_log2(o, base, o.select(falls, -mantissa, mantissa), exponent))
    bits = o.select(o.equal(base, _INFINITY), o.select(falls, 0, _INFINITY), bits)
    bits = o.select(o.equal(base, 0), o.select(falls, _INFINITY, 0), bits)
    digits = o.least(o.greatest(1075 - exponent, 0), 53) & 63  # of y behind the point
    integer = mantissa >> digits
    is_integer = o.equal(integer << digits, mantissa)
    odd = o.select(o.less(1075, exponent), 0, o.select(is_integer, integer & 1, 0))
    bits = _with_sign(o, bits, o.equal(o.select(negative, odd, 0), 1))
    is_real = o.select(negative, o.select(is_integer, 1, 0), 1)
    is_real = o.select(o.equal(base, 0), 1, o.select(o.equal(base, _INFINITY), 1, is_real))
    bits = o.select(o.equal(is_real, 1), bits, _NAN)
    bits = o.select(o.less(_INFINITY, o.greatest(base, magnitude)), _NAN, bits)
    return o.select(o.equal(x, _ONE), _ONE, o.select(o.equal(magnitude, 0), _ONE, bits))


def _times_log2(o: Arithmetic, base: Number, mantissa: Number, exponent: Number) -> tuple[Number, Number]:
    """The whole part, in 13 bits, and 62 digits of the logarithm of a number times a float."""
    whole, d = split(o, base, 52, 1023, o.nearest_double)
    piece, rest = _place(d)
    high, low, others = exact_logarithms()
    slope = _polynomial(o, others, piece, rest, 44)
    first = (o.wide(o.look_up(high, piece)) << 32) + o.look_up(low, piece)  # 73 digits behind the point
    part = o.wide(d) * (first + (o.wide(slope) * o.wide(rest) >> 44 + others.digits[0] - 73))
    near = o.equal(whole, 0)
    log = o.select(near, part, (o.wide(whole) << 115) + (part >> 11))  # 126 or 115 digits behind the point
    wide = o.wide(mantissa)
    product = ((log >> 62) * wide << 10) + ((log & _BELOW) * wide >> 52)
    product = product >> (o.least(o.greatest(o.select(near, 1087, 1076) - exponent, 0), 127) & 127)
    return o.narrow(o.least(o.greatest(product >> _POINT, -4096), 4095)), o.narrow(product & _BELOW)


def tanh(o: Arithmetic, x: Number) -> Number:
    """x times (tanh(x) / x), or tanh(x) from 1 on."""
    magnitude, exponent, mantissa = _parts(x)
    small = o.less(exponent, 1023)  # less than 1
    fixed = (mantissa << 9) >> (o.least(o.greatest(1022 - exponent, 0), 63) & 63)  # 62 digits behind the point
    piece = o.select(small, fixed >> 56 & 63, o.least((magnitude >> 46) - ((1023 << 6) - 64), 383) & 511)
    place = o.select(small, fixed & ((1 << 56) - 1), (magnitude & ((1 << 46) - 1)) << 10)
    value = _polynomial(o, hyperbolic_tangents(), piece, place, 56)
    factor = o.select(small, mantissa, _HIDDEN)
    number = o.narrow(o.wide(factor) * o.wide(value) >> 52)
    bits = o.nearest_double(number) + (o.least(exponent, 1023) - (1023 + _POINT) << 52)
    bits = o.select(o.less(1027, exponent), _ONE, bits)  # from 32 on
    bits = o.select(o.less(exponent, 995), magnitude, bits)  # less than 2 ** -28
    return o.select(o.less(_INFINITY, magnitude), _NAN, _with_sign(o, bits, o.less(x, 0)))


def _wave(first: int) -> Callable[[Arithmetic, Number], Number]:
    """The sine, from a number of quarter turns on."""

    def wave(o: Arithmetic, x: Number) -> Number:
        """x in quarter turns, to the nearest whole number of them; of what is left the sine or the cosine."""
        magnitude = x & _MAGNITUDE
        whole, rest, falls = _quarter_turns(o, magnitude)
        quarter, place = whole + first, _angle(o, rest, 7)
        even = o.equal(quarter & 1, 0)
        number, others = _normal(o, rest)
        sine = o.narrow(o.wide(number) * o.wide(_polynomial(o, sines(), *place)) >> 63)
        bits = o.select(
            even,
            o.nearest_double(sine) + (others - (_TURNS - 1) << 52),
            o.nearest_double(_polynomial(o, cosines(), *place)) - (_POINT << 52),
        )
        turned = (quarter >> 1 & 1) + o.select(even, o.select(falls, 1, 0), 0)
        if not first:
            turned = turned + o.select(o.less(x, 0), 1, 0)
        bits = _with_sign(o, bits, o.equal(turned & 1, 1))
        bits = o.select(o.less(magnitude, _SMALL), _ONE if first else x, bits)
        return o.select(o.less(magnitude, _INFINITY), bits, _NAN)

    return wave


def _quarter_turns(o: Arithmetic, magnitude: Number) -> tuple[Number, Number, Any]:
    """The nearest whole number of quarter turns modulo 4, how far that is away, and whether it is above."""
    mantissa = o.wide((magnitude & _FRACTION) + _HIDDEN)
    place = o.least(o.greatest((magnitude >> 52) - 995, 0), 1051) & 2047
    high, middle, low = (o.wide(limb) for limb in _look_up(o, quarter_turns(), place))
    least = mantissa * low
    lower = mantissa * middle + (least >> 60)
    upper = mantissa * high + (lower >> 60)  # 58 digits behind the point
    whole = ((upper >> 57) + 1) >> 1
    rest = (upper - (whole << 58) << 68) + ((lower & _LIMB) << 8) + ((least & _LIMB) >> 52)
    falls = o.less(rest, 0)
    return o.narrow(whole & 3), o.select(falls, -rest, rest), falls


def _angle(o: Arithmetic, rest: Number, bits: int) -> tuple[Number, Number, int]:
    """Of tables in 2 ** bits pieces of at most half a quarter turn: which one, the place in it, and its digits."""
    fixed = o.least(o.narrow(rest >> _TURNS - _POINT), (1 << _POINT - 1) - 1)
    width = _POINT - 1 - bits
    return fixed >> width, fixed & ((1 << width) - 1), width


def tan(o: Arithmetic, x: Number) -> Number:
    """r * (tan(r) / r) of what whole quarter turns leave, or (r / tan(r)) * (1 / r)."""
    magnitude = x & _MAGNITUDE
    whole, rest, falls = _quarter_turns(o, magnitude)
    place = _angle(o, rest, 8)
    number, others = _normal(o, rest)
    odd = o.equal(whole & 1, 1)
    tangent = o.narrow(o.wide(number) * o.wide(_polynomial(o, tangents(), *place)) >> _POINT)
    short = o.less(number, 1 << 62)
    upper, others_of_it = o.select(short, number << 1, number) - (1 << 62), others - o.select(short, 1, 0)
    by_rest = _polynomial(o, reciprocals(), upper >> 54 & 255, upper & ((1 << 54) - 1), 54)
    cotangent = o.narrow(o.wide(by_rest) * o.wide(_polynomial(o, cotangents(), *place)) >> 62)
    bits = o.nearest_double(o.select(odd, cotangent, tangent))
    scale = o.select(odd, _TURNS - 62 - 63 - others_of_it, others - (_TURNS - 1))
    bits = bits + (scale << 52)
    turned = o.select(falls, 1, 0) + o.select(o.less(x, 0), 1, 0) + o.select(odd, 1, 0)
    bits = _with_sign(o, bits, o.equal(turned & 1, 1))
    bits = o.select(o.less(magnitude, _SMALL), x, bits)
    return o.select(o.less(magnitude, _INFINITY), bits, _NAN)


DOUBLES: Mapping[str, Callable[..., Number]] = MappingProxyType({  # by their names in the dialect `math`
    "exp": exp, "log": _logarithm(None), "log2": _logarithm(2), "log10": _logarithm(10), "tanh": tanh,
    "powf": power, "sin": _wave(0), "cos": _wave(1), "tan": tan,
})  # fmt: skip
