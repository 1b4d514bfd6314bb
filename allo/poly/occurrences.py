"""Occurrences of the accesses of a pipelined body: each iteration and copy with its element, as arrays of numbers.

What is not known stays so: an element may be any in a dimension, and an occurrence may not take place.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from .linear import Linear, Row
from .model import Access
from .relations import written_order
from .space import PlacedAccess, Space, TimeLoop

type Numbers = np.ndarray[tuple[int, ...], np.dtype[np.int64]]
type Flags = np.ndarray[tuple[int, ...], np.dtype[np.bool_]]
type Fixed = tuple[tuple[object, int], ...]  # what a form adds that is the same in the whole loop


@dataclass(frozen=True, slots=True)
class Subscript:
    """The values of a subscript but for what is `fixed` in the loop; without `values` it may be anything.

    If it is `looked_up` in an array, `values` are where: equal ones are one subscript, others may be.
    """

    values: Numbers | None
    fixed: Fixed = ()
    looked_up: str = ""

    def at(self, chosen: Flags) -> Subscript:
        """Of some occurrences only."""
        return self if self.values is None else Subscript(self.values[chosen], self.fixed, self.looked_up)


@dataclass(frozen=True, slots=True)
class Occurrences:
    """Those of one access, in the order of iterations; `order` says when each is, row by row.

    `copy` numbers copies in the loops around; if `certain`, all of them take place.
    """

    iteration: Numbers
    copy: Numbers
    copies: int
    order: Numbers
    element: tuple[Subscript, ...]
    certain: bool

    def __len__(self) -> int:
        return len(self.iteration)


def occurrences_of(
    space: Space, accesses: Sequence[PlacedAccess], most: int, far: int
) -> list[Occurrences] | None:
    """The occurrences of all accesses in one run of the loop; None if they are not known, or more than `most`, each of
    which counts as often as there are copies: so many are looked for.

    Where an outermost loop moves all accesses of each array alike, its first iterations stand for all: as many as
    `far` iterations of the pipeline need.
    """
    trips = _trips(space, accesses, far)
    if trips is None:
        return None
    sizes = [prod(trips) * space.count(access.around) ** 2 for access in accesses]
    if sum(sizes) > most:
        return None
    found = []
    for access in accesses:
        made = None if access.access is None else _occurrences(space, access, access.access, trips)
        if made is None:
            return None
        found.append(made)
    return found


def _trips(space: Space, accesses: Sequence[PlacedAccess], far: int) -> list[int] | None:
    """How many iterations of each time loop are looked at."""
    found: list[int] = []
    for level, loop in enumerate(space.time):
        trip = loop.trip
        if level == 0 and _moves_alike(loop, accesses):
            enough = far // max(1, loop.stride) + 3
            trip = enough if trip is None else min(trip, enough)
        if trip is None:
            return None
        found.append(trip)
    return found


def _moves_alike(loop: TimeLoop, accesses: Sequence[PlacedAccess]) -> bool:
    """Whether a loop moves all accesses of an array by as many elements, and decides nothing else."""
    moves: dict[str, set[tuple[int, ...]]] = {}
    for placed in accesses:
        access = placed.access
        if access is None or loop.factor > 1 or len(access.pieces) != 1:
            return False
        steps = _coefficients(loop.variable, access.subscripts)
        bounds = _bounds(access, loop.variable)
        rows = [*access.rows, *(row for row in access.pieces[0] if row not in bounds)]
        if any(_coefficients(loop.variable, [row.form for row in rows])):
            return False
        scoped = int(any(one.variable == loop.variable for one in access.buffer.scope))
        moves.setdefault(access.buffer.label, set()).add((*steps, scoped))
    return all(len(ways) == 1 for ways in moves.values())


def _coefficients(variable: int, forms: Sequence[Linear]) -> tuple[int, ...]:
    return tuple(dict(form.terms).get(variable, 0) for form in forms)


def _bounds(access: Access, variable: int) -> tuple[Row, ...]:
    """The rows that say where a loop runs; none if there are several ways."""
    loop = next((one for one in access.loops if one.variable == variable), None)
    return loop.pieces[0] if loop is not None and len(loop.pieces) == 1 else ()


# -- values ----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Value:
    """The numbers of a variable in all occurrences, and what is fixed."""

    numbers: Numbers
    fixed: Mapping[object, int]


def _occurrences(space: Space, placed: PlacedAccess, access: Access, trips: Sequence[int]) -> Occurrences | None:
    """All points of the loops, without those at which the conditions do not hold."""
    copies = [space.copies[number].trip for number in placed.around]
    points = np.indices([*trips, *copies], dtype=np.int64).reshape(len(trips) + len(copies), -1)
    times, of_copy = points[: len(trips)], dict(zip(placed.around, points[len(trips) :], strict=True))
    values: dict[int, _Value] = {}
    for loop, number in zip(space.time, times, strict=True):
        own = number * loop.factor + (of_copy[loop.copy] if loop.factor > 1 else 0)
        fixed: dict[object, int] = {("lower", loop.variable): 1} if loop.lower is None else {}
        values[loop.variable] = _Value(own * loop.step + (loop.lower or 0), fixed)
    for number, own in of_copy.items():
        if (copy := space.copies[number]).variable >= 0:
            values[copy.variable] = _Value(own * copy.step + copy.lower, {})
    still = np.zeros(points.shape[1], np.int64)
    outer = [*(loop.variable for loop in access.loops), *(one.variable for one in access.parameters)]
    for number in outer:
        values.setdefault(number, _Value(still, {number: 1}))
    inside, certain = _where(access, values, space)
    element = _element(placed, access, values)
    order = [_evaluated(form, values) for form in written_order(access, _outside(space, access))]
    if any(one is None for one in order):
        return None
    iteration = np.zeros(points.shape[1], np.int64)
    for loop, number in zip(space.time, times, strict=True):
        iteration = iteration + loop.stride * number
    number_of_copy = np.zeros(points.shape[1], np.int64)
    for trip, own in zip(copies, points[len(trips) :], strict=True):
        number_of_copy = number_of_copy * trip + own
    return Occurrences(
        iteration[inside], number_of_copy[inside], prod(copies),
        np.stack([one.numbers[inside] for one in order if one is not None]),
        tuple(one.at(inside) for one in element),
        certain,
    )  # fmt: skip


def _outside(space: Space, access: Access) -> int:
    """How many loops are around the pipeline."""
    inside = {loop.variable for loop in space.time}
    return next((k for k, loop in enumerate(access.loops) if loop.variable in inside), len(access.loops))


def _element(placed: PlacedAccess, access: Access, values: Mapping[int, _Value]) -> list[Subscript]:
    """The element of each occurrence; an array that is new in each iteration of a loop has that as a subscript."""
    known = _solved(access.rows, values)
    found = [_subscript(values.get(loop.variable)) for loop in access.buffer.scope]
    for dimension, form in enumerate(access.subscripts):
        own = _subscript(_evaluated(form, known))
        source = placed.lookups[dimension] if own.values is None and placed.lookups else None
        if source is not None and len(source.subscripts) == 1:
            place = _subscript(_evaluated(source.subscripts[0], _solved(source.rows, values)))
            own = Subscript(place.values, place.fixed, source.buffer.label)
        found.append(own)
    return found


def _subscript(value: _Value | None) -> Subscript:
    if value is None:
        return Subscript(None)
    return Subscript(value.numbers, tuple(sorted(value.fixed.items(), key=repr)))


def _where(access: Access, values: Mapping[int, _Value], space: Space) -> tuple[Flags, bool]:
    """Where an access may take place, and whether it surely does there."""
    innermost = space.time[-1].variable if space.time else -1
    around = next((one for one in access.loops if one.variable == innermost), None)
    given = frozenset[Row]()
    if around is not None and len(around.pieces) == 1 and all(loop.factor == 1 for loop in space.time):
        given = frozenset(around.pieces[0])  # they hold in the iterations of the pipeline
    size = next(iter(values.values())).numbers.shape if values else (1,)
    found, certain = np.zeros(size, np.bool_), access.exact_domain
    for piece in access.pieces:
        rows = [row for row in piece if row not in given]
        known = _solved(piece, values)
        holds = np.ones(size, np.bool_)
        for row in rows:
            value = _evaluated(row.form, known)
            if value is None or value.fixed:
                certain = False
                continue
            holds &= value.numbers == 0 if row.equality else value.numbers >= 0
        found |= holds
    return found, certain


def _solved(rows: Sequence[Row], values: Mapping[int, _Value]) -> dict[int, _Value]:
    """The values and those of the quotients that rows define: d * q <= form <= d * q + d - 1."""
    found = dict(values)
    for row in rows:
        unknown = [(v, c) for v, c in row.form.terms if v not in found]
        if len(unknown) != 1:
            continue
        number, c = unknown[0]
        rest = Linear(row.form.constant, tuple((v, k) for v, k in row.form.terms if v != number))
        numerator = _evaluated(rest, found)
        if numerator is None or numerator.fixed:
            continue
        below = Row(rest.scaled(-1) + Linear(-c - 1, ((number, -c),)))
        if row.equality or (c < 0 and below in rows):
            found[number] = _Value(numerator.numbers // -c, {})
    return found


def _evaluated(form: Linear, values: Mapping[int, _Value]) -> _Value | None:
    """A form in all occurrences; None if a variable is not known."""
    if any(number not in values for number, _ in form.terms):
        return None
    size = next(iter(values.values())).numbers.shape if values else (1,)
    numbers = np.full(size, form.constant, np.int64)
    fixed: dict[object, int] = {}
    for number, c in form.terms:
        numbers = numbers + c * values[number].numbers
        for key, times in values[number].fixed.items():
            fixed[key] = fixed.get(key, 0) + c * times
    return _Value(numbers, {key: times for key, times in fixed.items() if times})
