"""Exact numbers of iterations of loop nests: sums of polynomials, or points where bounds are minima or quotients."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from math import comb, prod
from typing import Any

import numpy as np

from .linear import Linear, Quotient, Row, variable

_MOST_POINTS = 2_000_000  # iterations that are looked at one by one

type Monomial = tuple[tuple[int, int], ...]  # (variable, power), sorted
type Polynomial = dict[Monomial, Fraction]
type Array = np.ndarray[tuple[int, ...], np.dtype[Any]]


@dataclass(frozen=True, slots=True)
class Counted:
    """A loop: every `step`-th number from the greatest lower bound to below the least upper one."""

    variable: int
    lower: tuple[Linear, ...]
    upper: tuple[Linear, ...]
    step: int
    quotients: tuple[Quotient, ...] = ()

    @property
    def forms(self) -> tuple[Linear, ...]:
        return self.lower + self.upper


@dataclass(frozen=True, slots=True)
class Guard:
    """A condition: all rows hold, or else (`negated`) not all of them."""

    rows: tuple[Row, ...]
    quotients: tuple[Quotient, ...]
    negated: bool

    @property
    def forms(self) -> tuple[Linear, ...]:
        return tuple(row.form for row in self.rows)


type Level = Counted | Guard


def iterations(nest: Sequence[Level]) -> int | None:
    """How often what is inside of a nest runs, the outermost level first; None if parameters decide, or too much work.

    The cost does not grow with extents where bounds are single linear forms.
    """
    numbers = [_iterations(part) for part in _independent(nest)]
    known = [number for number in numbers if number is not None]
    return prod(known) if len(known) == len(numbers) else None


def mean(nest: Sequence[Level]) -> Fraction | None:
    """The iterations of the innermost loop of a nest, divided by how often it is reached (0 if it never is)."""
    around = next(part for part in _independent(nest) if part[-1] is nest[-1])
    inner, outer = _iterations(around), iterations(around[:-1])
    if inner is None or outer is None:
        return None
    return Fraction(inner, outer) if outer else Fraction(0)


def _independent(nest: Sequence[Level]) -> list[list[Level]]:
    """Parts of a nest that share no variables, so that their iterations multiply; each in the order of the nest."""
    parts: list[tuple[set[int], list[int]]] = []
    for place, level in enumerate(nest):
        used, places = set(variables_of(level)), [place]
        for part in [part for part in parts if part[0] & used]:
            parts.remove(part)
            used |= part[0]
            places = part[1] + places
        parts.append((used, places))
    return [[nest[place] for place in sorted(places)] for _, places in parts]


def variables_of(level: Level) -> Iterator[int]:
    """What a level depends on and, of a loop, its own variable."""
    if isinstance(level, Counted):
        yield level.variable
    numerators = {quotient.variable: quotient.numerator for quotient in level.quotients}
    waiting = list(level.forms)
    while waiting:
        for number, _ in waiting.pop().terms:
            if number in numerators:
                waiting.append(numerators[number])
            else:
                yield number


def _iterations(nest: Sequence[Level]) -> int | None:
    loops = {level.variable for level in nest if isinstance(level, Counted)}
    if not all(number in loops for level in nest for number in variables_of(level)):
        return None
    simple = [_simple(level) for level in nest]
    found = [loop for loop in simple if loop is not None]
    if len(found) == len(simple) and all(_fewest(found, n) >= 0 for n in range(len(found))):
        return _summed_up(found)
    return _looked_at(nest)


# -- sums of polynomials -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Simple:
    """A loop whose n-th iteration is `low + n * step`, for n below `trips`."""

    variable: int
    low: Linear
    trips: Linear
    step: int


def _simple(level: Level) -> _Simple | None:
    if isinstance(level, Guard) or level.quotients or len(level.lower) != 1 or len(level.upper) != 1:
        return None
    span = level.upper[0] - level.lower[0]
    if level.step > 1:
        if not span.is_constant:
            return None
        span = Linear(-(-span.constant // level.step))
    return _Simple(level.variable, level.lower[0], span, level.step)


def _fewest(loops: Sequence[_Simple], number: int) -> int:
    """The least number of iterations of a loop that the bounds of those around allow."""
    form = loops[number].trips
    for outer in reversed(loops[:number]):
        factor = dict(form.terms).get(outer.variable, 0)
        form += (outer.low - variable(outer.variable)).scaled(factor)
        if factor < 0:  # the last iteration
            form += outer.trips.plus(-1).scaled(factor * outer.step)
    return form.constant


def _summed_up(loops: Sequence[_Simple]) -> int:
    """The iterations of all loops together."""
    total: Polynomial = {(): Fraction(1)}
    for loop in reversed(loops):
        total = _sum(_shifted(total, loop), loop.variable, _polynomial(loop.trips))
    return int(total.get((), 0))


def _polynomial(form: Linear) -> Polynomial:
    found: Polynomial = {((v, 1),): Fraction(c) for v, c in form.terms}
    return found | {(): Fraction(form.constant)} if form.constant else found


def _product(left: Polynomial, right: Polynomial) -> Polynomial:
    found: Polynomial = {}
    for a, x in left.items():
        for b, y in right.items():
            powers: dict[int, int] = dict(a)
            for v, p in b:
                powers[v] = powers.get(v, 0) + p
            key = tuple(sorted(powers.items()))
            found[key] = found.get(key, Fraction(0)) + x * y
    return found


def _power(base: Polynomial, exponent: int) -> Polynomial:
    result: Polynomial = {(): Fraction(1)}
    for _ in range(exponent):
        result = _product(result, base)
    return result


def _shifted(polynomial: Polynomial, loop: _Simple) -> Polynomial:
    """With the variable of a loop in terms of the number of its iteration."""
    if loop.low == Linear(0) and loop.step == 1:
        return polynomial
    value = _polynomial(loop.low + variable(loop.variable).scaled(loop.step))
    found: Polynomial = {}
    for power, rest in _by_power(polynomial, loop.variable):
        for key, x in _product(rest, _power(value, power)).items():
            found[key] = found.get(key, Fraction(0)) + x
    return found


def _sum(polynomial: Polynomial, number: int, trips: Polynomial) -> Polynomial:
    """The sum over a variable from 0 to `trips` - 1, by the formula of Faulhaber."""
    found: Polynomial = {}
    for power, rest in _by_power(polynomial, number):
        for exponent, x in _faulhaber(power):
            for key, y in _product(rest, _power(trips, exponent)).items():
                found[key] = found.get(key, Fraction(0)) + x * y
    return found


def _by_power(polynomial: Polynomial, number: int) -> Iterator[tuple[int, Polynomial]]:
    """Each monomial as a power of a variable and the rest."""
    for monomial, c in polynomial.items():
        yield dict(monomial).get(number, 0), {tuple(item for item in monomial if item[0] != number): c}


def _faulhaber(power: int) -> list[tuple[int, Fraction]]:
    """0**p + 1**p + ... + (n - 1)**p as a polynomial in n: (exponent, coefficient)."""
    bernoulli: list[Fraction] = []
    for m in range(power + 1):
        value = Fraction(int(m == 0))
        value -= sum((comb(m, k) * bernoulli[k] / (m - k + 1) for k in range(m)), Fraction(0))
        bernoulli.append(value)
    return [(power + 1 - k, comb(power + 1, k) * bernoulli[k] / (power + 1)) for k in range(power + 1)]


# -- points: bounds that are minima, maxima or quotients, and conditions ---------------------------------


def _looked_at(nest: Sequence[Level]) -> int | None:
    """The iterations of a nest, one by one but for those of the innermost loop; None if these are too many."""
    points: dict[int, Array] = {}
    count = 1
    for level in nest:
        known = dict(points)
        for quotient in level.quotients:
            known[quotient.variable] = _value(quotient.numerator, known) // quotient.divisor
        if isinstance(level, Guard):
            kept = np.broadcast_to(_holds(level, known), (count,))
            points = {number: values[kept] for number, values in points.items()}
            count = int(kept.sum())
            continue
        low = np.broadcast_to(reduce(np.maximum, [_value(form, known) for form in level.lower]), (count,))
        high = np.broadcast_to(reduce(np.minimum, [_value(form, known) for form in level.upper]), (count,))
        trips = np.maximum(0, -((low - high) // level.step))
        total = int(trips.sum())
        if level is nest[-1]:
            return total
        if total > _MOST_POINTS:
            return None
        place = np.repeat(np.arange(count), trips)
        starts = np.repeat(np.cumsum(trips) - trips, trips)
        points = {number: values[place] for number, values in points.items()}
        points[level.variable] = low[place] + level.step * (np.arange(total) - starts)
        count = total
    return count


def _value(form: Linear, points: Mapping[int, Array]) -> Array:
    found: Array = np.array(form.constant)
    for number, c in form.terms:
        found = found + c * points[number]
    return found


def _holds(guard: Guard, points: Mapping[int, Array]) -> Array:
    found: Array = np.array(True)
    for row in guard.rows:
        value = _value(row.form, points)
        found = found & (value == 0 if row.equality else value >= 0)
    return ~found if guard.negated else found
