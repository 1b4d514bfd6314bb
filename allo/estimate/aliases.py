"""Decides which iterations and copies of two accesses meet in one element, by arithmetic on their subscripts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import gcd

from .region import Form, Node, Region

_MOST_VALUES = 8  # of one unknown, above which it counts as free
_MOST_MEETINGS = 64
_FAR = 1 << 40

# An unknown: ("t", k) is the difference of time loop k, ("c", n) that of the copies of unrolled loop n.
type Unknown = tuple[str, int]


@dataclass(frozen=True, slots=True)
class Meeting:
    """Differences (later - earlier) of iterations and copies at which two accesses meet; None: any difference."""

    time: tuple[int | None, ...]
    copies: tuple[int | None, ...]  # of the unrolled loops around both


@dataclass(frozen=True, slots=True)
class Meetings:
    """All ways to meet; `exact` is false where there may be fewer."""

    common: tuple[int, ...]
    ways: tuple[Meeting, ...]
    exact: bool


@dataclass(slots=True)
class _Equation:
    """sum(coefficient * unknown) + something in [low, high], a multiple of `step`, is `right`."""

    terms: dict[Unknown, int]
    right: int
    low: int
    high: int
    step: int


def meetings(region: Region, first: Node, second: Node, fixed: frozenset[int] = frozenset()) -> Meetings:
    """How `first` and a later `second` meet; loops whose variables are `fixed` have a new array in each iteration."""
    key = (first.index, second.index, fixed)
    if key not in region.known_meetings:
        region.known_meetings[key] = _meetings(region, first, second, fixed)
    found: Meetings = region.known_meetings[key]
    return found


def _meetings(region: Region, first: Node, second: Node, fixed: frozenset[int]) -> Meetings:
    shared = common(first.around, second.around)
    ranges: dict[Unknown, tuple[int, int]] = {}
    for k, loop in enumerate(region.time):
        most = _FAR if loop.trip is None else loop.trip - 1
        ranges["t", k] = (0, 0) if loop.variable in fixed else (-most, most)
    for number in shared:
        copy = region.copy_loops[number]
        most = 0 if copy.variable in fixed else copy.trip - 1
        ranges["c", number] = (-most, most)
    equations: list[_Equation] = []
    exact = True
    for one, other in zip(first.forms, second.forms, strict=True):
        equation = _equation(region, one, other, shared)
        if equation is None:
            exact = False
        else:
            equations.append(equation)
    known: dict[Unknown, int | None] = {u: 0 for u, (low, high) in ranges.items() if low == high}
    found: list[Meeting] = []
    for assignment, sure in _solutions(equations, ranges, known):
        exact = exact and sure
        time = tuple(assignment.get(("t", k)) for k in range(len(region.time)))
        copies = tuple(assignment.get(("c", number)) for number in shared)
        found.append(Meeting(time, copies))
        if len(found) > _MOST_MEETINGS:
            time = tuple(0 if loop.variable in fixed else None for loop in region.time)
            return Meetings(shared, (Meeting(time, (None,) * len(shared)),), False)
    return Meetings(shared, tuple(dict.fromkeys(found)), exact)


def fixed(region: Region, node: Node) -> frozenset[int]:
    """The variables of loops in each iteration of which the array is a new one."""
    scope = node.access.buffer.scope if node.access is not None else ()
    return frozenset(loop.variable for loop in scope)


def least_distance(region: Region, way: Meeting) -> int | None:
    """The least number of iterations of the pipeline between two that meet; None if there are no two."""
    best = None
    for level, loop in enumerate(region.time):
        value = way.time[level]
        if value is not None and value < 0:
            break
        if value == 0:
            continue
        total = loop.stride * (1 if value is None else value)
        for inner, difference in zip(region.time[level + 1 :], way.time[level + 1 :], strict=True):
            if difference is not None:
                total += inner.stride * difference
            elif inner.trip is not None:
                total -= inner.stride * (inner.trip - 1)
        if loop.trip is None or loop.trip > (1 if value is None else value):
            best = total if best is None else min(best, total)
        if value is not None:
            break
    return None if best is None else max(1, best)


def reversed_meeting(way: Meeting) -> Meeting:
    """The same two, with the other one as the later."""
    time, copies = [tuple([None if n is None else -n for n in ns]) for ns in (way.time, way.copies)]
    return Meeting(time, copies)


def common(first: tuple[int, ...], second: tuple[int, ...]) -> tuple[int, ...]:
    """The unrolled loops around both, of the loops around each."""
    count = 0
    for a, b in zip(first, second, strict=False):
        if a != b:
            break
        count += 1
    return first[:count]


def _equation(region: Region, one: Form | None, other: Form | None, common: tuple[int, ...]) -> _Equation | None:
    """`other` minus `one` is 0; None if that cannot be said with the unknowns."""
    if one is None or other is None or one.other != other.other:
        return None
    terms: dict[Unknown, int] = {}
    low = high = step = 0

    def loose(coefficient: int, trip: int | None) -> None:
        nonlocal low, high, step
        most = coefficient * (_FAR if trip is None else trip - 1)
        low, high, step = low + min(0, most), high + max(0, most), gcd(step, coefficient)

    for k, loop in enumerate(region.time):
        if other.time[k]:
            terms["t", k] = other.time[k]
        if other.time[k] != one.time[k]:
            loose(other.time[k] - one.time[k], loop.trip)
    a, b = dict(one.copies), dict(other.copies)
    for number in sorted({*a, *b}):
        trip = region.copy_loops[number].trip
        if number in common:
            if b.get(number):
                terms["c", number] = b[number]
            if b.get(number, 0) != a.get(number, 0):
                loose(b.get(number, 0) - a.get(number, 0), trip)
        else:
            for coefficient in (b.get(number, 0), -a.get(number, 0)):
                if coefficient:
                    loose(coefficient, trip)
    return _Equation(terms, one.constant - other.constant, low, high, step)


def _solutions(
    equations: Sequence[_Equation], ranges: dict[Unknown, tuple[int, int]], known: dict[Unknown, int | None]
) -> Iterator[tuple[dict[Unknown, int | None], bool]]:
    """Assignments of the unknowns that the equations determine, and whether nothing was left out."""
    if not equations:
        yield known, True
        return
    equation, rest = equations[0], equations[1:]
    unknown = [u for u in equation.terms if u not in known]
    if not unknown:
        free = [u for u in equation.terms if known[u] is None]
        if free or _possible(equation, known):
            for found, sure in _solutions(rest, ranges, known):
                yield found, sure and not free
        return
    chosen = max(unknown, key=lambda u: abs(equation.terms[u]))
    values = _values(equation, chosen, ranges, known)
    if values is None:
        for found, _ in _solutions(equations, ranges, {**known, chosen: None}):
            yield found, False
        return
    for value in values:
        yield from _solutions(equations, ranges, {**known, chosen: value})


def _values(
    equation: _Equation, chosen: Unknown, ranges: dict[Unknown, tuple[int, int]], known: dict[Unknown, int | None]
) -> range | None:
    """The values that one unknown can have; None if these are too many to look at."""
    low, high = equation.low, equation.high
    for u, c in equation.terms.items():
        if u == chosen:
            continue
        value = known.get(u)
        bounds = ranges[u] if value is None else (value, value)
        ends = (c * bounds[0], c * bounds[1])
        low, high = low + min(ends), high + max(ends)
    c = equation.terms[chosen]
    smallest, largest = equation.right - high, equation.right - low
    if c < 0:
        c, smallest, largest = -c, -largest, -smallest
    first, last = -(-smallest // c), largest // c
    first, last = max(first, ranges[chosen][0]), min(last, ranges[chosen][1])
    return range(first, last + 1) if last - first < _MOST_VALUES else None


def _possible(equation: _Equation, known: dict[Unknown, int | None]) -> bool:
    rest = equation.right - sum(c * (known[u] or 0) for u, c in equation.terms.items())
    if not equation.low <= rest <= equation.high:
        return False
    return rest == 0 if equation.step == 0 else rest % equation.step == 0
