"""Goals of a search: figures to be small, within limits on others."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from ..errors import SearchError, nearest
from .point import FIGURES, Point

_OF_CYCLES = ("cycles", "milliseconds")


@dataclass(frozen=True, slots=True)
class Goal:
    """`figures` are to be small, in this order of importance if a design has to be chosen; `limits` are the most."""

    figures: tuple[str, ...]
    limits: Mapping[str, float]

    @classmethod
    def of(cls, objective: str | Sequence[str], constraints: Mapping[str, float] | None) -> Goal:
        """Raises SearchError for figures that do not exist and limits that are no numbers."""
        figures = (objective,) if isinstance(objective, str) else tuple(objective)
        if not figures:
            raise SearchError("the objective names no figure", hint=f"take some of {', '.join(FIGURES)}")
        for name in (*figures, *(constraints or {})):
            if name not in FIGURES:
                hint = nearest(str(name), FIGURES) or f"the figures are {', '.join(FIGURES)}"
                raise SearchError(f"there is no figure '{name}' of a design", hint=hint)
        for name, limit in (constraints or {}).items():
            if isinstance(limit, bool) or not isinstance(limit, int | float) or not limit >= 0:
                raise SearchError(f"the limit of {name} must be a number from 0 on, got {limit!r}")
        return cls(figures, dict(constraints or {}))

    @property
    def is_of_cycles(self) -> bool:
        """Whether cycles decide first, in these or in milliseconds: simulated ones then outrank estimated ones."""
        return self.figures[0] in _OF_CYCLES

    @property
    def is_of_cycles_alone(self) -> bool:
        """Whether a lower bound of cycles can say that a design is of no use."""
        return self.is_of_cycles and len(self.figures) == 1

    def excess(self, point: Point) -> float:
        """By what parts of them limits are exceeded, in sum; 0: the design is allowed."""
        over = (max(0.0, point.figure(name) - limit) / max(limit, 1) for name, limit in self.limits.items())
        return math.fsum(over)

    def allows(self, point: Point) -> bool:
        return point.is_design and self.excess(point) == 0

    def cost(self, point: Point) -> float:
        """One number for samplers: the logarithm of the first figure, above all allowed ones where a limit is not."""
        value, excess = point.figure(self.figures[0]), self.excess(point)
        return math.log1p(value) + (1000 * (1 + excess) if excess else 0)

    def sorted(self, points: Iterable[Point]) -> list[Point]:
        """Allowed designs first; of several figures the front first, then what only the front is better than, ..."""
        given = list(points)
        if len(self.figures) == 1:
            return sorted(given, key=self._order)
        rest, found = sorted(given, key=self._order), []
        while rest:
            allowed = [p for p in rest if self.allows(p)]
            layer = front(allowed, self.figures) or rest
            found += layer
            rest = [p for p in rest if not any(p is q for q in layer)]
        return found

    def _order(self, point: Point) -> tuple[float, ...]:
        excess = self.excess(point)
        return (excess, *(point.figure(name) for name in (*self.figures, "dsp", "bram18", "lut", "ff")))


def front(points: Sequence[Point], figures: Sequence[str]) -> list[Point]:
    """The designs that no other one is as good as in all figures and better in one; one of equal ones."""
    found: list[Point] = []
    values: list[tuple[float, ...]] = []
    for point in sorted((p for p in points if p.is_design), key=lambda p: tuple(map(p.figure, figures))):
        own = tuple(map(point.figure, figures))
        if not any(all(a <= b for a, b in zip(other, own, strict=True)) for other in values):
            found.append(point)
            values.append(own)
    return found
