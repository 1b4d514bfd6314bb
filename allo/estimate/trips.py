"""Trip counts of the loops of one function, with those that the user states for loops of run-time extents."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from mlir import ir

from ..ir.walk import LoopView
from ..poly import Trips, trips_of


class TripCounts:
    """The trip counts of the loops of one function; `given` are those that the user states, by name."""

    def __init__(self, function: str, given: Mapping[str, int]) -> None:
        self.function = function
        self.given = given
        self.used: set[str] = set()
        self._known: dict[ir.Operation, Trips] = {}

    def of(self, view: LoopView) -> Trips:
        """The trip count of a loop."""
        if view.op not in self._known:
            self._known[view.op] = self._stated(view) or trips_of(view.op)
        return self._known[view.op]

    def _stated(self, view: LoopView) -> Trips | None:
        for name in (f"{self.function}:{view.name}", view.name):
            if name in self.given:
                self.used.add(name)
                return Trips(Fraction(self.given[name]))
        return None
