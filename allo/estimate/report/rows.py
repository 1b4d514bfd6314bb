"""Rows of an estimate, one for each loop of a function, in the order of the text."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import replace
from fractions import Fraction

from mlir import ir

from ...ir.walk import LOOP_OPERATIONS, LoopView
from ...timing.reason import Reason
from ..trips import TripCounts
from .result import LoopEstimate


class Rows:
    """The rows of one function, by loop."""

    def __init__(self, function: str, views: Mapping[ir.Operation, LoopView], trips: TripCounts) -> None:
        self.function = function
        self.views = views
        self.trips = trips
        self.made: dict[ir.Operation, LoopEstimate] = {}

    @property
    def loops(self) -> tuple[LoopEstimate, ...]:
        """All rows, in the order of the text."""
        return tuple(self.made[op] for op in self.views if op in self.made)

    def name(self, view: LoopView) -> str:
        """What a primitive calls the loop."""
        same = [other for other in self.views.values() if other.name == view.name]
        return f"{self.function}:{view.name}" if len(same) == 1 else f"{self.function}:{view.nest}.{view.name}"

    def bound(self, view: LoopView, latency: Fraction | None) -> Fraction | None:
        """The latency of a loop if the loops in it kept to their bounds."""
        trips = self.trips.of(view).mean
        if latency is None or trips is None:
            return None
        inside = [self.made[op] for op, inner in self.views.items() if inner.parent is view and op in self.made]
        return latency - trips * sum((x.latency or 0) - (x.bound or x.latency or 0) for x in inside)

    def add(
        self,
        view: LoopView,
        state: str,
        latency: Fraction | None,
        depth: Fraction | None = None,
        interval: int | None = None,
        requested: int | None = None,
        reason: Reason | None = None,
        bound: Fraction | None = None,
    ) -> None:
        """Say something of a loop; what was said before of it is forgotten."""
        trips = self.trips.of(view)
        self.made[view.op] = LoopEstimate(
            self.function, view.nest, view.name, len(view.chain) - 1,
            None if trips.mean is None else float(trips.mean), trips.constant is not None, trips.least, trips.greatest,
            rounded(latency), interval, requested, reason, rounded(depth), rounded(bound), "", state,
        )  # fmt: skip

    def advise(self, op: ir.Operation, step: str) -> None:
        """Give a loop its advice."""
        self.made[op] = replace(self.made[op], advice=step)

    def unrolled(self, block: Iterable[ir.Operation]) -> None:
        """The loops in a block that is scheduled in one piece."""
        for op in block:
            if op.name in LOOP_OPERATIONS:
                self.add(self.views[op], "unrolled", None)
            self.unrolled([inner for region in op.regions for b in region.blocks for inner in operations_of(b)])


def operations_of(block: ir.Block) -> list[ir.Operation]:
    """The operations of a block, without those below them."""
    return [view.operation for view in block.operations]


def rounded(value: Fraction | None) -> int | None:
    """Whole cycles."""
    return None if value is None else math.ceil(value)
