"""Base of drivers: points in the order of a goal, how they are asked for, decisions near those of a point."""

from __future__ import annotations

import math
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations

from ..choices import Decisions, Hole
from ..goal import Goal
from ..point import Point

_MOST_RATIO = 4.0  # of options that are exchanged

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


    def most(self, count: int) -> float:
        """The cycles of the last of that many best designs that are allowed; infinite if there are fewer."""
        kept = [point.figure("cycles") for point in self.best(count) if self.goal.allows(point)]
        return kept[-1] if len(kept) == count else math.inf


type Lever = tuple[Hole, ...]  # ordered holes that move together


def nearby(point: Point) -> Iterator[dict[str, int]]:
    """Decisions that differ in one hole: all options of those without an order, of the others those next to it, next to
    twice and half as much, and the last one. Ordered ones that have the same options and are at the same one also move
    together."""
    for hole in point.holes:
        for taken in range(len(hole.options)) if not hole.ordered else ():
            if taken != hole.taken:
                yield {**point.decisions, hole.name: taken}
    for lever in _levers(point):
        hole, last = lever[0], len(lever[0].options) - 1
        own = size_of(hole, hole.taken)
        near = {_nearest(hole, 2 * own), _nearest(hole, own / 2), hole.taken - 1, hole.taken + 1, last}
        for taken in sorted((near - {hole.taken}) & set(range(last + 1))):
            yield _moved(point, {lever: taken})


def exchanged(point: Point, *, of_one_place: bool) -> Iterator[dict[str, int]]:
    """Decisions that differ in two ordered holes: one goes up, the other down by about the same ratio, or both up.

    `of_one_place`: those of one place (`... at place`), and those that move together; else the others.
    """
    levers = _levers(point)
    for up in levers:
        for taken in range(up[0].taken + 1, len(up[0].options)):
            ratio = size_of(up[0], taken) / size_of(up[0], up[0].taken)
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
    wanted = size_of(hole, hole.taken) / ratio
    below = [n for n in range(hole.taken) if size_of(hole, n) <= wanted]
    above = [n for n in range(hole.taken) if size_of(hole, n) > wanted]
    return below[-1:] + above[:1]


def _nearest(hole: Hole, size: float) -> int:
    """The option of about a size."""
    return min(range(len(hole.options)), key=lambda n: (abs(size_of(hole, n) - size), n))


def size_of(hole: Hole, number: int) -> float:
    """How large an option is: as a number above 0, or by its place."""
    try:
        value = float(hole.options[number])
    except ValueError:
        value = 0.0
    return value if value > 0 else 1.0 + number
