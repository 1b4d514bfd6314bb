"""Base of drivers: points in the order of a goal, how they are asked for, decisions near those of a point."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
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


def nearby(point: Point) -> Iterator[dict[str, int]]:
    """Decisions that differ in one hole: the next options of ordered ones, one and three away, all of others."""
    for hole in point.holes:
        steps = (-3, -1, 1, 3) if hole.ordered else range(-hole.taken, len(hole.options) - hole.taken)
        for step in steps:
            if step and 0 <= hole.taken + step < len(hole.options):
                yield {**point.decisions, hole.name: hole.taken + step}


def exchanged(point: Point) -> Iterator[dict[str, int]]:
    """Decisions that differ in two ordered holes: one goes up, the other down by about the same ratio, or both up."""
    ordered = [hole for hole in point.holes if hole.ordered]
    for up in ordered:
        for taken in range(up.taken + 1, len(up.options)):
            ratio = _size(up, taken) / _size(up, up.taken)
            if ratio > _MOST_RATIO:
                break
            for down in ordered:
                if down is not up:
                    for other in _lowered(down, ratio):
                        yield {**point.decisions, up.name: taken, down.name: other}
    for first, second in combinations(ordered, 2):
        if first.taken + 1 < len(first.options) and second.taken + 1 < len(second.options):
            yield {**point.decisions, first.name: first.taken + 1, second.name: second.taken + 1}


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
