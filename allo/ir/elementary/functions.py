"""The functions: each takes and gives bits of single floats, as integers of 64 bits with a sign.

They are written once, for numbers of Python, values of the IR and expressions of C++: `Arithmetic` says what these can
do. Nothing overflows. A function reduces its argument, looks up the polynomial of its piece, and rounds once; the
results are within 0.51 units in the last place. NaN is always the same.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from .tables import (
    WordTable,
    cosines,
    cotangents,
    exact_logarithms,
    hyperbolic_tangents,
    log2_of_e,
    log_of_2,
    logarithms,
    powers_of_two,
    quarter_turns,
    sines,
    tangents,
)

_INFINITY, _NAN, _ONE = 0x7F800000, 0x7FC00000, 0x3F800000
_SIGN, _MAGNITUDE, _FRACTION, _HIDDEN = 0x80000000, 0x7FFFFFFF, 0x7FFFFF, 0x800000
_MOST = (1 << 43) - 1  # beyond all exponents, with 34 digits behind the point
_SMALL_ANGLE = 115 << 23  # 2 ** -12
_POINT = 55  # binary digits behind the point of a logarithm

type Number = Any  # with + - * >> << & and unary -


class Arithmetic(ABC):
    """What the functions do beside the operators of their numbers."""

    @abstractmethod
    def less(self, a: Number, b: Number) -> Any:
        """Is a < b?"""

    @abstractmethod
    def equal(self, a: Number, b: Number) -> Any:
        """Is a == b?"""

    @abstractmethod
    def select(self, condition: Any, a: Number, b: Number) -> Number:
        """`a` if the condition holds, else `b`."""

    @abstractmethod
    def look_up(self, table: WordTable, index: Number) -> Number:
        """An element of a table."""

    @abstractmethod
    def wide(self, number: Number) -> Number:
        """The number in 128 bits; operators keep the width."""

    @abstractmethod
    def narrow(self, number: Number) -> Number:
        """The number, which fits, in 64 bits again."""

    @abstractmethod
    def nearest(self, number: Number) -> Number:
        """The bits of the single float that is nearest to an integer, of two the even one."""

    @abstractmethod
    def nearest_double(self, number: Number) -> Number:
        """The same of a double float."""

    @abstractmethod
    def quotient(self, a: Number, b: Number) -> Number:
        """a / b without its fraction, of a >= 0 and b > 0 in 64 bits."""

    def least(self, a: Number, b: Number) -> Number:
        """The smaller of two."""
        return self.select(self.less(a, b), a, b)

    def greatest(self, a: Number, b: Number) -> Number:
        """The greater of two."""
        return self.select(self.less(a, b), b, a)


def exp(o: Arithmetic, x: Number) -> Number:
    """e ** x = 2 ** (x * log2(e))."""
    magnitude, negative = x & _MAGNITUDE, o.less(_MAGNITUDE, x)
    exponent, mantissa = magnitude >> 23, (magnitude & _FRACTION) + _HIDDEN
    product = mantissa * log2_of_e(38) >> (o.least(o.greatest(154 - exponent, 20), 63) & 63)
    product = product & ((1 << 43) - 1)
    bits = _power_of_two(o, o.select(negative, -product, product))
    bits = o.select(o.less(133, exponent), o.select(negative, 0, _INFINITY), bits)
    return o.select(o.less(_INFINITY, magnitude), _NAN, bits)


def _power_of_two(o: Arithmetic, exponent: Number) -> Number:
    """2 ** n * 2 ** f, for less than 2 ** 43 with 34 digits behind the point."""
    whole, fraction = exponent >> 34, exponent & ((1 << 34) - 1)
    piece, rest = fraction >> 26, fraction & ((1 << 26) - 1)
    c0, c1, c2 = (o.look_up(table, piece) for table in powers_of_two())
    slope = c1 + (c2 * (rest >> 8) >> 16)
    power = c0 + (slope * rest >> 26)  # from 1 to 2, 36 digits behind the point
    below = o.greatest(o.least(-126 - whole, 40), 0)  # the least exponent of a normal number
    rounded = ((power >> (below + 12)) + 1) >> 1
    return o.least((o.greatest(whole + 126, 0) << 23) + rounded, _INFINITY)


def split(
    o: Arithmetic, magnitude: Number, digits: int, bias: int, nearest: Callable[[Number], Number]
) -> tuple[Number, Number]:
    """n and d of 2 ** n * (1 + d) with -1/4 <= d < 1/2, of a float that stores so many digits and such a bias.

    d has a digit more behind the point; `nearest` gives the bits of the float that is nearest to an integer.
    """
    hidden = 1 << digits
    subnormal = o.less(magnitude, hidden)
    normal = o.select(subnormal, nearest(magnitude & (hidden - 1)), magnitude)
    mantissa, upper = (normal & (hidden - 1)) + hidden, normal >> (digits - 1) & 1
    exponent = (normal >> digits) - o.select(subnormal, 2 * bias + digits - 1, bias) + upper
    return exponent, o.select(o.equal(upper, 1), mantissa, mantissa << 1) - 2 * hidden


def _logarithm(base: int | None) -> Callable[[Arithmetic, Number], Number]:
    def log(o: Arithmetic, x: Number) -> Number:
        """log(2 ** n * (1 + d)) = n * log(2) + d * (log(1 + d) / d)."""
        magnitude, negative = x & _MAGNITUDE, o.less(_MAGNITUDE, x)
        exponent, d = split(o, magnitude, 23, 127, o.nearest)
        place = d + (1 << 22)
        piece, rest = place >> 15, place & 0x7FFF
        c0, c1, c2 = (o.look_up(table, piece) for table in logarithms(base))
        quotient = c0 + ((c1 + (c2 * rest >> 15)) * rest >> 19)  # 36 digits behind the point
        total = exponent * log_of_2(base, _POINT) + ((d * quotient + 16) >> 5)
        bits = o.select(o.equal(total, 0), 0, o.nearest(total) - (_POINT << 23))
        bits = o.select(o.less(magnitude, _INFINITY), bits, _INFINITY)
        bits = o.select(negative, _NAN, bits)
        bits = o.select(o.equal(magnitude, 0), _SIGN + _INFINITY, bits)
        return o.select(o.less(_INFINITY, magnitude), _NAN, bits)

    return log


def power(o: Arithmetic, x: Number, y: Number) -> Number:
    """2 ** (y * log2(x)), with the special values of C."""
    base, negative = x & _MAGNITUDE, o.less(_MAGNITUDE, x)
    magnitude, falls = y & _MAGNITUDE, o.less(_MAGNITUDE, y)
    exponent, mantissa = magnitude >> 23, (magnitude & _FRACTION) + _HIDDEN
    whole, d = split(o, base, 23, 127, o.nearest)
    place = d + (1 << 22)
    piece, rest = place >> 15, place & 0x7FFF
    c0, c1, c2, c3 = (o.look_up(table, piece) for table in exact_logarithms())
    slope = c1 + ((c2 + (c3 * rest >> 15)) * rest >> 15)
    quotient = c0 + (slope * rest >> 17)  # 44 digits behind the point
    log = (o.wide(whole) << 68) + o.wide(d) * o.wide(quotient)
    product = o.wide(o.select(falls, -mantissa, mantissa)) * log
    product = product >> (o.least(o.greatest(184 - exponent, 0), 127) & 127)  # 34 digits behind the point
    bits = _power_of_two(o, o.narrow(o.least(o.greatest(product, -_MOST), _MOST)))
    bits = o.select(o.equal(base, _INFINITY), o.select(falls, 0, _INFINITY), bits)
    bits = o.select(o.equal(base, 0), o.select(falls, _INFINITY, 0), bits)
    digits = o.least(o.greatest(150 - exponent, 0), 24) & 31  # of y behind the point
    integer = mantissa >> digits
    is_integer = o.equal(integer << digits, mantissa)
    odd = o.select(o.less(150, exponent), 0, o.select(is_integer, integer & 1, 0))
    bits = bits + o.select(negative, odd << 31, 0)
    is_real = o.select(negative, o.select(is_integer, 1, 0), 1)
    is_real = o.select(o.equal(base, 0), 1, o.select(o.equal(base, _INFINITY), 1, is_real))
    bits = o.select(o.equal(is_real, 1), bits, _NAN)
    bits = o.select(o.less(_INFINITY, o.greatest(base, magnitude)), _NAN, bits)
    return o.select(o.equal(x, _ONE), _ONE, o.select(o.equal(magnitude, 0), _ONE, bits))


def tanh(o: Arithmetic, x: Number) -> Number:
    """x times (tanh(x) / x)."""
    magnitude, negative = x & _MAGNITUDE, o.less(_MAGNITUDE, x)
    exponent, mantissa = magnitude >> 23, (magnitude & _FRACTION) + _HIDDEN
    small = o.less(exponent, 123)  # less than 1/16
    fixed = mantissa >> (o.least(o.greatest(122 - exponent, 0), 31) & 31)  # 28 digits behind the point
    piece = o.select(small, fixed >> 19 & 31, o.least((magnitude >> 17) - ((123 << 6) - 32), 543) & 1023)
    rest = o.select(small, fixed >> 2, magnitude) & ((1 << 17) - 1)
    c0, c1, c2, c3 = (o.look_up(table, piece) for table in hyperbolic_tangents())
    slope = c1 + ((c2 + (c3 * rest >> 17)) * rest >> 17)
    quotient = c0 + (slope * rest >> 19)  # 38 digits behind the point
    bits = o.nearest(mantissa * quotient) + (exponent - 188 << 23)
    bits = o.select(o.less(130, exponent), _ONE, bits)  # from 16 on
    bits = o.select(o.less(exponent, 115), magnitude, bits)  # less than 2 ** -12
    bits = bits + (o.select(negative, 1, 0) << 31)
    return o.select(o.less(_INFINITY, magnitude), _NAN, bits)


def _wave(first: int) -> Callable[[Arithmetic, Number], Number]:
    """The sine, from a number of quarter turns on."""

    def wave(o: Arithmetic, x: Number) -> Number:
        """x in quarter turns, to the nearest whole number of them; of what is left the sine or the cosine."""
        magnitude, negative = x & _MAGNITUDE, o.less(_MAGNITUDE, x)
        whole, rest, falls = _quarter_turns(o, magnitude)
        sine, cosine = _sine_and_cosine(o, rest)
        quarter = o.narrow(whole & 3) + first
        bits = o.select(o.equal(quarter & 1, 0), sine + (o.select(falls, 1, 0) << 31), cosine)
        turned = (quarter >> 1 & 1) + (bits >> 31) + (0 if first else o.select(negative, 1, 0))
        bits = (bits & _MAGNITUDE) + ((turned & 1) << 31)
        bits = o.select(o.less(magnitude, _SMALL_ANGLE), _ONE if first else x, bits)
        return o.select(o.less(magnitude, _INFINITY), bits, _NAN)

    return wave


def _quarter_turns(o: Arithmetic, magnitude: Number) -> tuple[Number, Number, Any]:
    """The nearest whole number of quarter turns modulo 4, how far that is away, with 80 digits behind the point, and
    whether it is above."""
    exponent, mantissa = magnitude >> 23, o.wide((magnitude & _FRACTION) + _HIDDEN)
    place = o.least(o.greatest(exponent - 115, 0), 139) & 255
    high, low = (o.wide(o.look_up(table, place)) for table in quarter_turns())
    turns = (mantissa * high << 41) + mantissa * low
    whole = ((turns >> 79) + 1) >> 1
    rest = turns - (whole << 80)
    falls = o.less(rest, 0)
    return whole, o.select(falls, -rest, rest), falls


def _piece(o: Arithmetic, rest: Number) -> tuple[Number, Number]:
    """Of tables in 256 pieces of at most half a quarter turn: which one, and 25 digits of the place in it."""
    fixed = o.least(o.narrow(rest >> 46), (1 << 33) - 1)  # 34 digits behind the point
    return fixed >> 25, fixed & ((1 << 25) - 1)


def _times_rest(o: Arithmetic, rest: Number, quotient: Number) -> tuple[Number, Number]:
    """The bits of what is left, with 80 digits behind the point, times a number with 36; and with how many digits
    behind the point, 62 or 82, the product fills a word."""
    digits = o.select(o.less(rest, 1 << 60), 82, 62)
    return o.nearest(o.narrow(rest * o.wide(quotient) >> (116 - digits))) - (digits << 23), digits


def _sine_and_cosine(o: Arithmetic, rest: Number) -> tuple[Number, Number]:
    """Of at most half a quarter turn, with 80 digits behind the point."""
    piece, t = _piece(o, rest)
    quotient, cosine = (
        c0 + ((c1 + (c2 * (t >> 8) >> 15)) * t >> 25)  # 36 digits behind the point
        for c0, c1, c2 in ((o.look_up(table, piece) for table in tables()) for tables in (sines, cosines))
    )
    return _times_rest(o, rest, quotient)[0], o.nearest(cosine) - (36 << 23)


def tan(o: Arithmetic, x: Number) -> Number:
    """r * (tan(r) / r) of what whole quarter turns leave, or (r / tan(r)) / r."""
    magnitude, negative = x & _MAGNITUDE, o.less(_MAGNITUDE, x)
    whole, rest, falls = _quarter_turns(o, magnitude)
    piece, t = _piece(o, rest)
    by_rest, times_rest = (
        c0 + ((c1 + ((c2 + (c3 * t >> 25)) * t >> 25)) * t >> 29)  # 36 digits behind the point
        for c0, c1, c2, c3 in ((o.look_up(table, piece) for table in tables()) for tables in (tangents, cotangents))
    )
    tangent, digits = _times_rest(o, rest, by_rest)
    odd = o.equal(o.narrow(whole & 1), 1)
    bits = o.select(odd, _by_rest(o, times_rest, o.narrow(rest >> (82 - digits)), digits - 2), tangent)
    turned = o.select(falls, 1, 0) + o.select(negative, 1, 0) + o.select(odd, 1, 0)
    bits = o.select(o.less(magnitude, _SMALL_ANGLE), x, bits + ((turned & 1) << 31))
    return o.select(o.less(magnitude, _INFINITY), bits, _NAN)


def _by_rest(o: Arithmetic, number: Number, rest: Number, digits: Number) -> Number:
    """The bits of a quotient: of a number, with 36 digits behind the point, by the rest with so many."""
    exponent = (o.nearest(rest) >> 23) - 127
    divisor = o.greatest(rest >> (o.greatest(exponent - 33, 0) & 31), 1)  # 34 bits
    dividend = number << 27
    quotient = o.quotient(dividend, divisor)
    inexact = o.select(o.equal(quotient * divisor, dividend), 0, 1)
    return o.nearest((quotient << 1) + inexact) + (digits - exponent - 31 << 23)


FUNCTIONS: Mapping[str, Callable[..., Number]] = MappingProxyType({  # by their names in the dialect `math`
    "exp": exp, "log": _logarithm(None), "log2": _logarithm(2), "log10": _logarithm(10), "tanh": tanh,
    "powf": power, "sin": _wave(0), "cos": _wave(1), "tan": tan,
})  # fmt: skip
