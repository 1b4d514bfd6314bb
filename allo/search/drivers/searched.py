"""Base of drivers: points in the order of a goal, how they are asked for, decisions near those of a point."""

from __future__ import annotations

import math
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations, product

from ..choices import Decisions, Hole
from ..goal import Goal
from ..point import Point

_MOST_RATIO = 4.0  # of options that are exchanged
_NEARLY = 0.8  # of the lanes that there is room for
_TRIED = 0.25  # of the lanes, with which orders are tried
_MATTERS = 0.5  # of the iterations of the place with the most
_MOST_SHAPES = 5  # of a place
_MOST_SIDES = 2  # loops of such a place
_MOST_COMBINED = 6  # orders of loops at alike places

type Proposals = Generator[Sequence[Decisions], Sequence[Point], None]
"""A driver: it yields decisions to look at together, and is sent their points, in the same order."""

type Key = tuple[tuple[str, int], ...]


def key_of(decisions: Decisions) -> Key:
    """Decisions as a value; first options are those of holes that are not named."""
    return tuple(sorted((name, taken) for name, taken in decisions.items() if taken))


@dataclass
class Candidates:
    """The points that a driver has seen, one for each set of decisions."""

    goal: Goal
    points: dict[Key, Point] = field(default_factory=dict)

    def add(self, points: Sequence[Point]) -> None:
        for point in points:
            self.points.setdefault(key_of(point.decisions), point)

    def best(self, count: int) -> list[Point]:
        """The best designs that cost different things, the first the best."""
        found = {tuple(p.figures.values()): p for p in reversed(self.points.values()) if p.is_design}
        return self.goal.sorted(found.values())[:count]


type Lever = tuple[Hole, ...]  # ordered holes that move together


def nearby(point: Point) -> Iterator[dict[str, int]]:
    """Decisions that differ in one hole: the next options of ordered ones, one and three away, all of others. Ordered
    ones that have the same options and are at the same one also move together."""
    for lever in _levers(point):
        taken = lever[0].taken
        for step in (-3, -1, 1, 3):
            if 0 <= taken + step < len(lever[0].options):
                yield _moved(point, {lever: taken + step})
    for hole in point.holes:
        for taken in range(len(hole.options)) if not hole.ordered else ():
            if taken != hole.taken:
                yield {**point.decisions, hole.name: taken}


def exchanged(point: Point, *, of_one_place: bool) -> Iterator[dict[str, int]]:
    """Decisions that differ in two ordered holes: one goes up, the other down by about the same ratio, or both up.

    `of_one_place`: those of one place (`... at place`), and those that move together; else the others.
    """
    levers = _levers(point)
    for up in levers:
        for taken in range(up[0].taken + 1, len(up[0].options)):
            ratio = _size(up[0], taken) / _size(up[0], up[0].taken)
            if ratio > _MOST_RATIO:
                break
            for down in levers:
                if _are_of_one_place(up, down) == of_one_place and not set(up) & set(down):
                    for other in _lowered(down[0], ratio):
                        yield _moved(point, {up: taken, down: other})
    for first, second in combinations(levers, 2):
        if _are_of_one_place(first, second) != of_one_place or set(first) & set(second):
            continue
        if all(lever[0].taken + 1 < len(lever[0].options) for lever in (first, second)):
            yield _moved(point, {lever: lever[0].taken + 1 for lever in (first, second)})


def filled(point: Point, limit: float, *, orders: bool) -> Iterator[dict[str, int]]:
    """Decisions with about as many lanes as a limit of DSPs allows, place by place; or with one shape of a part of
    them and all `orders` of the loops, of which bad ones take long to estimate with many lanes.

    Loops that run one after the other share units, so that each may have all of them. A copy takes as many DSPs as
    those of the point do. Places with the same options change together, since they often read the same arrays, whose
    banks then fit both. Bodies in three or more loops have too many shapes for that, and are left out, as are places
    with few iterations beside others. Of shapes with about as many copies, those with the smallest sides come first.
    """
    places: dict[str, list[Hole]] = {}
    for hole in point.holes:
        if " at " in hole.name:
            places.setdefault(hole.name.partition(" at ")[2], []).append(hole)
    alike: dict[tuple[tuple[str, ...], ...], list[list[Hole]]] = {}
    for holes in places.values() if point.dsp else ():
        lanes = sorted((hole for hole in holes if hole.ordered), key=lambda hole: hole.options)
        alike.setdefault(tuple(hole.options for hole in lanes), []).append(lanes)
    most = max((_iterations(group[0]) for group in alike.values()), default=0.0)
    for group in alike.values():
        if len(group[0]) > _MOST_SIDES or _iterations(group[0]) < _MATTERS * most:
            continue
        copies = max(math.prod(_size(hole, hole.taken) for hole in lanes) for lanes in group)
        room = limit / point.dsp * copies * (_TRIED if orders else 1)
        names = {hole.name.partition(" at ")[2] for lanes in group for hole in lanes}
        turned = [hole for name in sorted(names) for hole in places[name] if orders and not hole.ordered]
        for shape in _shapes(tuple(group[0]), room)[: 1 if orders else None]:
            lanes_taken = {hole.name: n for lanes in group for hole, n in zip(lanes, shape, strict=True)}
            for others in _combined(turned):
                moved = lanes_taken | {hole.name: n for hole, n in zip(turned, others, strict=True)}
                if any(point.decisions[name] != taken for name, taken in moved.items()):
                    yield {**point.decisions, **moved}


def _iterations(lanes: Sequence[Hole]) -> float:
    """Those of the loops of a place, which may have as many lanes."""
    return math.prod(_size(hole, len(hole.options) - 1) for hole in lanes)


def _combined(orders: Sequence[Hole]) -> Iterator[tuple[int, ...]]:
    """All combinations of options, or the same option of each if there are too many."""
    counts = [len(hole.options) for hole in orders]
    if math.prod(counts) <= _MOST_COMBINED:
        return product(*map(range, counts))
    return (tuple(min(n, count - 1) for count in counts) for n in range(max(counts)))


def _shapes(lanes: Lever, room: float) -> list[tuple[int, ...]]:
    """Options of lanes with the largest products up to `room`, those with the smallest sides first."""
    found = []
    for shape in product(*(range(len(hole.options)) for hole in lanes)):
        sides = [_size(hole, taken) for hole, taken in zip(lanes, shape, strict=True)]
        if (total := math.prod(sides)) <= room:
            found.append((total, max(sides, default=1.0), shape))
    most = max((total for total, _, _ in found), default=0.0)
    return [shape for total, _, shape in sorted(found, key=lambda f: f[1:]) if total >= _NEARLY * most][:_MOST_SHAPES]


def _levers(point: Point) -> list[Lever]:
    """The ordered holes by themselves, and those that have the same options and are at the same one."""
    ordered = [hole for hole in point.holes if hole.ordered]
    alike: dict[tuple[tuple[str, ...], int], list[Hole]] = {}
    for hole in ordered:
        alike.setdefault((hole.options, hole.taken), []).append(hole)
    return [*((hole,) for hole in ordered), *(tuple(holes) for holes in alike.values() if len(holes) > 1)]


def _moved(point: Point, levers: Mapping[Lever, int]) -> dict[str, int]:
    return {**point.decisions, **{hole.name: taken for lever, taken in levers.items() for hole in lever}}


def _are_of_one_place(one: Lever, other: Lever) -> bool:
    if len(one) > 1 or len(other) > 1:
        return len(one) > 1 and len(other) > 1
    return one[0].name.partition(" at ")[2] == other[0].name.partition(" at ")[2]


def _lowered(hole: Hole, ratio: float) -> list[int]:
    """The options next to the one taken divided by a ratio, from below and from above."""
    wanted = _size(hole, hole.taken) / ratio
    below = [n for n in range(hole.taken) if _size(hole, n) <= wanted]
    above = [n for n in range(hole.taken) if _size(hole, n) > wanted]
    return below[-1:] + above[:1]


def _size(hole: Hole, number: int) -> float:
    """How large an option is: as a number above 0, or by its place."""
    try:
        value = float(hole.options[number])
    except ValueError:
        value = 0.0
    return value if value > 0 else 1.0 + number
