"""Distances over time and copy loops between accesses of one element: in closed form, and by integer programs.

The closed form, `meetings`, leaves out no way to meet; where it is not `exact`, `narrowed` asks the systems of `pairs`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import gcd, lcm

from .linear import PRIME, Linear, Row
from .model import Access
from .pairs import Pair, Signs, pair_of
from .space import Form, Meeting, Meetings, PlacedAccess, Space, common, renewed
from .systems import feasible, least

_MOST_VALUES = 8  # of one unknown, above which it counts as free
_MOST_MEETINGS = 64
_FAR = 1 << 40

# An unknown: ("t", k) is the difference of time loop k, ("c", n) that of copies in copy loop n.
type Unknown = tuple[str, int]


@dataclass(slots=True)
class _Equation:
    """sum(coefficient * unknown) + something in [low, high], a multiple of `step`, is `right`."""

    terms: dict[Unknown, int]
    right: int
    low: int
    high: int
    step: int


def meetings(space: Space, first: PlacedAccess, second: PlacedAccess) -> Meetings:
    """How `first` and a later `second` meet, which access one array."""
    key = (first.index, second.index)
    if key not in space.meetings:
        space.meetings[key] = _meetings(space, first, second)
    return space.meetings[key]


def _meetings(space: Space, first: PlacedAccess, second: PlacedAccess) -> Meetings:
    fixed, shared = renewed(first.access), common(first.around, second.around)
    ranges: dict[Unknown, tuple[int, int]] = {}
    for k, loop in enumerate(space.time):
        most = _FAR if loop.trip is None else loop.trip - 1
        ranges["t", k] = (0, 0) if loop.variable in fixed else (-most, most)
    for number in shared:
        copy = space.copies[number]
        most = 0 if copy.variable in fixed else copy.trip - 1
        ranges["c", number] = (-most, most)
    equations: list[_Equation] = []
    exact = True
    for one, other in zip(first.forms, second.forms, strict=True):
        equation = _equation(space, one, other, shared)
        if equation is None:
            exact = False
        else:
            equations.append(equation)
            exact = exact and equation.low == equation.high  # else iterations and their differences may disagree
    known: dict[Unknown, int | None] = {u: 0 for u, (low, high) in ranges.items() if low == high}
    found: list[Meeting] = []
    for assignment, sure in _solutions(equations, ranges, known):
        exact = exact and sure
        time = tuple(assignment.get(("t", k)) for k in range(len(space.time)))
        copies = tuple(assignment.get(("c", number)) for number in shared)
        found.append(Meeting(time, copies))
        if len(found) > _MOST_MEETINGS:
            time = tuple(0 if loop.variable in fixed else None for loop in space.time)
            return Meetings(shared, (Meeting(time, (None,) * len(shared)),), False)
    return Meetings(shared, tuple(dict.fromkeys(found)), exact)


def companions[A: PlacedAccess](accesses: Sequence[A]) -> dict[int, list[A]]:
    """By access, those of one array, in their order, that it may meet.

    Others have numbers in a subscript whose difference no iteration and no copy makes up for, as copies of unrolled
    loops have: what is asked of pairs of accesses is asked of these.
    """
    units = [_unit(forms) for forms in zip(*[access.forms for access in accesses], strict=True)]
    groups: dict[tuple[int, ...], list[A]] = {}
    for access in accesses:
        numbers = [0 if form is None else form.constant for form in access.forms]
        key = [number % unit if unit else number for number, unit in zip(numbers, units, strict=True)]
        groups.setdefault(tuple(key), []).append(access)
    return {access.index: group for group in groups.values() for access in group}


def _unit(forms: Sequence[Form | None]) -> int:
    """What subscripts that are equal in two accesses differ by is a multiple of it: 0 if their numbers are equal."""
    known = [form for form in forms if form is not None]
    if len(known) < len(forms) or len({form.other for form in known}) > 1:
        return 1
    return gcd(*[number for form in known for number in (*form.time, *[number for _, number in form.copies])])


def least_distance(space: Space, way: Meeting) -> int | None:
    """The least number of iterations of the pipeline between two that meet; None if there are no two."""
    best = None
    for level, loop in enumerate(space.time):
        value = way.time[level]
        if value is not None and value < 0:
            break
        if value == 0:
            continue
        total = loop.stride * (1 if value is None else value)
        for inner, difference in zip(space.time[level + 1 :], way.time[level + 1 :], strict=True):
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


def _equation(space: Space, one: Form | None, other: Form | None, shared: tuple[int, ...]) -> _Equation | None:
    """`other` minus `one` is 0; None if that cannot be said with the unknowns."""
    if one is None or other is None or one.other != other.other:
        return None
    terms: dict[Unknown, int] = {}
    low = high = step = 0

    def loose(coefficient: int, trip: int | None) -> None:
        nonlocal low, high, step
        most = coefficient * (_FAR if trip is None else trip - 1)
        low, high, step = low + min(0, most), high + max(0, most), gcd(step, coefficient)

    for k, loop in enumerate(space.time):
        if other.time[k]:
            terms["t", k] = other.time[k]
        if other.time[k] != one.time[k]:
            loose(other.time[k] - one.time[k], loop.trip)
    a, b = dict(one.copies), dict(other.copies)
    for number in sorted({*a, *b}):
        trip = space.copies[number].trip
        if number in shared:
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


# -- integer programs ------------------------------------------------------------------------------------

type Move = tuple[int, int, int]  # a copy loop, and the least and the most by which its copy changes


def narrowed(
    space: Space, accesses: tuple[Access, Access], distance: int, moves: Sequence[Move]
) -> tuple[int, tuple[Move, ...]] | None:
    """The least distance of iterations (0: in one iteration) and the moves between copies at which two accesses meet.

    `distance` and `moves` are what the closed form says; None if the accesses do not meet so.
    """
    if not (accesses[0].exact_elements and accesses[1].exact_elements):
        return distance, tuple(moves)
    pair = pair_of(*accesses)
    systems = [] if pair is None else _systems(space, pair, distance > 0, moves)
    if not systems:
        return None
    if distance:
        distance = max(distance, min(_least_over_time(space, rows) for rows in systems))
    return distance, tuple(_moves(space, move, systems) for move in moves)


def _systems(space: Space, pair: Pair, later: bool, moves: Sequence[Move]) -> list[list[Row]]:
    """The systems of which one holds for two accesses in one iteration, or with the second in a later one."""
    known = {loop.variable for loop in pair.common}
    inside = {loop.variable for loop in space.time} | {loop.variable for loop in space.copies}
    outer: Signs = {loop.variable: 0 for loop in pair.common if loop.variable not in inside}
    alternatives = [outer]
    if later:
        alternatives = [
            {**outer, loop.variable: 1} | {before.variable: 0 for before in space.time[:level]}
            for level, loop in enumerate(space.time)
        ]
    elif all(loop.factor == 1 for loop in space.time):
        alternatives = [{**outer} | {loop.variable: 0 for loop in space.time}]
    limits: list[Row] = []
    for number, low, high in moves:
        loop = space.copies[number]
        if loop.variable in known:
            difference = _difference(loop.variable, 1)
            limits += [Row(difference.plus(-low * loop.step)), Row(difference.scaled(-1).plus(high * loop.step))]
    return [
        [*rows, *limits]
        for signs in alternatives
        if pair.allows(signs)
        for rows in pair.systems(signs)
        if feasible([*rows, *limits])
    ]


def _least_over_time(space: Space, rows: Sequence[Row]) -> int:
    """The least number of iterations between two accesses, at least 1."""
    unit = lcm(*(loop.step * loop.factor for loop in space.time))
    total = Linear(0)
    for loop in space.time:
        share = loop.stride * unit // (loop.step * loop.factor)
        # Of the copies of an iteration the first may depend on the last of an earlier one.
        total += _difference(loop.variable, share).plus(-share * loop.step * (loop.factor - 1))
    value = least(total, rows)
    return 1 if value is None else max(1, -(-value // unit))


def _moves(space: Space, move: Move, systems: Sequence[Sequence[Row]]) -> Move:
    """The moves in a copy loop that the systems allow."""
    number, low, high = move
    loop = space.copies[number]
    difference = _difference(loop.variable, 1)
    if low == high or not any(
        v == loop.variable + PRIME for rows in systems for row in rows for v, _ in row.form.terms
    ):
        return move
    lowest = [least(difference, rows) for rows in systems]
    highest = [least(difference.scaled(-1), rows) for rows in systems]
    first = min(low * loop.step if value is None else value for value in lowest)
    last = max(high * loop.step if value is None else -value for value in highest)
    return number, max(low, -(-first // loop.step)), min(high, last // loop.step)


def _difference(variable: int, factor: int) -> Linear:
    """How much later the second of two instances is in a loop."""
    return Linear(0, ((variable, -factor), (variable + PRIME, factor)))
