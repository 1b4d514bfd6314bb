"""Trip counts of the loops of one function, with those that the user states for loops of run-time extents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

from mlir import ir

from ...ir.module import Module
from ...ir.walk import LoopView, constant_bounds
from ...poly import Model, TimeLoop, Trips, longest_trip, trips_of


class TripCounts:
    """The trip counts of the loops of one function; `given` are those that the user states, by name.

    Where the position of a task decides, it is the count of the position where a loop runs longest: `by_position`.
    """

    def __init__(self, module: Module, function: str, given: Mapping[str, int]) -> None:
        self.module = module
        self.function = function
        self.given = given
        self.by_position: set[ir.Operation] = set()
        self.used: set[str] = set()
        self._known: dict[ir.Operation, Trips] = {}

    def of(self, view: LoopView) -> Trips:
        """The trip count of a loop."""
        if view.op not in self._known:
            self._known[view.op] = self._stated(view) or self._found(view)
        return self._known[view.op]

    def _found(self, view: LoopView) -> Trips:
        found = trips_of(view.op)
        longest = longest_trip(self.module, self.function, view.op) if found.mean is None else None
        if longest is None:
            return found
        longest = longest if found.greatest is None else min(longest, found.greatest)
        self.by_position.add(view.op)
        return Trips(Fraction(longest), found.least, longest)

    def _stated(self, view: LoopView) -> Trips | None:
        for name in (f"{self.function}:{view.name}", view.name):
            if name in self.given:
                self.used.add(name)
                return Trips(Fraction(self.given[name]))
        return None


def time_loops(chain: Sequence[LoopView], model: Model, trip_counts: TripCounts) -> tuple[TimeLoop, ...]:
    """The loops of one pipeline, the outermost first."""
    found: list[TimeLoop] = []
    stride = 1
    for view in reversed(chain):
        bounds = constant_bounds(view.op)
        trips = trip_counts.of(view)
        factor = 1
        if "allo.unroll" in view.op.attributes and bounds is not None:
            trip = int(trips.mean or 1)
            factor = ir.IntegerAttr(view.op.attributes["allo.unroll"]).value or trip
        lower, step = (bounds[0], bounds[2]) if bounds is not None else (None, _step(view.op))
        count = None if bounds is None else -(-int(trips.mean or 0) // max(1, factor))
        loop = model.loop(view.op)
        found.append(TimeLoop(loop.variable, view.name, count, step, lower, stride, max(1, factor)))
        stride *= count or 1
    return tuple(reversed(found))


def _step(op: ir.Operation) -> int:
    return ir.IntegerAttr(op.attributes["step"]).value if op.name == "affine.for" else 1
