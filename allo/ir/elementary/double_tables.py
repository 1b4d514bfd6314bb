"""Polynomials by pieces for functions of double floats."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal, localcontext
from functools import cache

from .tables import DIGITS, Function, Pieces, WordTable, cosine, even, pi, scale, sine_by_r, tables, tanh_by_x

_TURN = 178  # digits of 2 / pi behind the point
_LIMB = 60


@dataclass(frozen=True, slots=True)
class Polynomials:
    """A table a power of t, and how many binary digits its words have behind the point."""

    tables: tuple[WordTable, ...]
    digits: tuple[int, ...]


@cache
def powers_of_two() -> Polynomials:
    """2 ** f in 256 pieces of 0 <= f < 1."""
    with localcontext(prec=DIGITS):
        ln2 = Decimal(2).ln()
        return _polynomials("exp", lambda f: (f * ln2).exp(), even(0, 256, Decimal(1) / 256), (62, *[64] * 5))


def doublings(base: int | None) -> int:
    """How often `logarithms` are doubled: those to the base 10 are about 0.4, and would have one digit less."""
    return int(base == 10)


@cache
def logarithms(base: int | None) -> Polynomials:
    """log(1 + d) / d in 384 pieces of -1/4 <= d < 1/2, doubled so many times; None: the natural logarithm."""
    return _logarithms(f"log{base or ''}", base, (62, *[64] * 5))


@cache
def exact_logarithms() -> tuple[WordTable, WordTable, Polynomials]:
    """Those to the base 2 with more digits, for powers: the first coefficients, of 73 digits, as their digits from the
    32nd on and those below, then the others."""
    made = _logarithms("power", 2, (73, *[71] * 6))
    words = made.tables[0].words
    upper, lower = tuple(word >> 32 for word in words), tuple(word & 0xFFFFFFFF for word in words)
    high, low = WordTable("power64_high", upper), WordTable("power64_low", lower)
    return high, low, Polynomials(made.tables[1:], made.digits[1:])


def _logarithms(name: str, base: int | None, digits: Sequence[int]) -> Polynomials:
    with localcontext(prec=DIGITS):
        factor = scale(base) * 2 ** doublings(base)
        pieces = even(Decimal(-1) / 4, 384, Decimal(1) / 512)
        return _polynomials(name, lambda d: (1 + d).ln() * factor / d if d else factor, pieces, digits)


@cache
def hyperbolic_tangents() -> Polynomials:
    """tanh(x) / x in 64 pieces of 0 <= x < 1; tanh(x) in 64 from each power of two to the next, up to 32."""
    with localcontext(prec=DIGITS):
        pieces = even(0, 64, Decimal(1) / 64)
        for power in range(5):
            pieces += even(Decimal(2) ** power, 64, Decimal(2) ** (power - 6))
        return _polynomials("tanh", lambda x: tanh_by_x(x) * max(x, Decimal(1)), pieces, (62, *[64] * 7))


@cache
def sines() -> Polynomials:
    """sin(r * pi / 2) / r in 128 pieces of 0 <= r < 1/2."""
    with localcontext(prec=DIGITS):
        return _polynomials("sin", sine_by_r, even(0, 128, Decimal(1) / 256), (62, *[64] * 5))


@cache
def cosines() -> Polynomials:
    """cos(r * pi / 2) in 128 pieces of 0 <= r < 1/2."""
    with localcontext(prec=DIGITS):
        return _polynomials("cos", cosine, even(0, 128, Decimal(1) / 256), (62, *[64] * 5))


@cache
def tangents() -> Polynomials:
    """tan(r * pi / 2) / r in 256 pieces of 0 <= r < 1/2."""
    with localcontext(prec=DIGITS):
        pieces = even(0, 256, Decimal(1) / 512)
        return _polynomials("tan", lambda r: sine_by_r(r) / cosine(r), pieces, (61, *[64] * 6))


@cache
def cotangents() -> Polynomials:
    """r / tan(r * pi / 2) in 256 pieces of 0 <= r < 1/2."""
    with localcontext(prec=DIGITS):
        pieces = even(0, 256, Decimal(1) / 512)
        return _polynomials("cot", lambda r: cosine(r) / sine_by_r(r), pieces, (63, *[64] * 6))


@cache
def reciprocals() -> Polynomials:
    """1 / (1 + p) in 256 pieces of 0 <= p < 1."""
    with localcontext(prec=DIGITS):
        return _polynomials("by", lambda p: 1 / (1 + p), even(0, 256, Decimal(1) / 256), (62, *[64] * 6))


@cache
def quarter_turns() -> tuple[WordTable, ...]:
    """2 ** k * 2 / pi modulo 4 for k from -80 to 971, 178 digits behind the point: the upper 60 digits of all first."""
    most = 971
    digits, guard = _TURN + most, 64
    quotient = (1 << (2 * digits + 1 + guard)) // pi(digits + guard)
    words = [(quotient >> (digits - _TURN - k)) % (1 << _TURN + 2) for k in range(-80, most + 1)]
    mask = (1 << _LIMB) - 1
    return tuple(
        WordTable(f"turn64_{limb}", tuple(word >> limb * _LIMB & mask for word in words)) for limb in (2, 1, 0)
    )


def _polynomials(name: str, function: Function, pieces: Pieces, digits: Sequence[int]) -> Polynomials:
    return Polynomials(tables(f"{name}64", function, pieces, digits), tuple(digits))
