"""Rows of an estimate, one for each loop of a function, in the order of the text."""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction

from mlir import ir

from ...ir.walk import LOOP_OPERATIONS, LoopView, statements
from ...timing.control.spans import Spans
from ...timing.control.tree import Dataflow, Node, Pipeline, Repeat, Spatial, Straight, parts_of
from ...timing.reason import Reason
from .result import LoopEstimate


class Rows:
    """The rows of one function, by loop."""

    def __init__(self, spans: Spans) -> None:
        self.spans = spans
        self.tree = spans.tree
        self.made: dict[ir.Operation, LoopEstimate] = {}
        self._visit(self.tree.root)

    @property
    def loops(self) -> tuple[LoopEstimate, ...]:
        """All rows, in the order of the text."""
        return tuple(self.made[op] for op in self.tree.views if op in self.made)

    def _visit(self, node: Node) -> None:
        """Rows of a node, behind those of what is in it."""
        for part in parts_of(node):
            self._visit(part)
        latency = self.spans.of(node).latency
        match node:
            case Straight():
                self._unrolled(node.body)
            case Pipeline():
                bound = node.at(node.region.least)
                for view in node.loops[:-1]:
                    self._add(view, "flattened", latency, bound=bound)
                last, depth, reason = node.loops[-1], Fraction(node.depth), node.region.reason
                self._add(last, "pipelined", latency, depth, node.interval, node.requested, reason, bound)
                self._unrolled(statements(last.body))
            case Repeat(body=Dataflow() as stages):
                body, slowest = self.spans.of(stages), self.spans.overlap(stages).slowest
                reason = Reason("call", f"the slowest stage, {slowest}, takes {rounded(body.interval)} cycles")
                self._add(node.view, "dataflow", latency, body.latency, rounded(body.interval), None, reason)
            case Repeat(body=Straight() as once):
                bound = least_cycles(node, latency, self.tree.around.target.control.pipelined_loop)
                self._add(node.view, "sequential", latency, Fraction(once.depth), bound=bound)
            case Repeat():
                bound = self._bound(node.view, latency)
                self._add(node.view, "sequential", latency, self.spans.of(node.body).latency, bound=bound)
            case Spatial():
                self._add(node.view, "spatial", latency, self.spans.of(node.body).latency)
            case _:
                pass

    def _bound(self, view: LoopView, latency: Fraction | None) -> Fraction | None:
        """The latency of a loop if the loops in it kept to their bounds."""
        trips = self.tree.trips.of(view).mean
        if latency is None or trips is None:
            return None
        inside = [self.made[op] for op, inner in self.tree.views.items() if inner.parent is view and op in self.made]
        return latency - trips * sum((x.latency or 0) - (x.bound or x.latency or 0) for x in inside)

    def _add(
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
        trips = self.tree.trips.of(view)
        self.made[view.op] = LoopEstimate(
            self.tree.name, view.nest, view.name, len(view.chain) - 1,
            None if trips.mean is None else float(trips.mean), trips.constant is not None, trips.least, trips.greatest,
            rounded(latency), interval, requested, reason, rounded(depth), rounded(bound), "", state,
        )  # fmt: skip

    def _unrolled(self, block: Iterable[ir.Operation]) -> None:
        """The loops in a block that is scheduled in one piece."""
        for op in block:
            if op.name in LOOP_OPERATIONS:
                self._add(self.tree.views[op], "unrolled", None)
            self._unrolled([inner for region in op.regions for b in region.blocks for inner in statements(b)])


def least_cycles(loop: Repeat, latency: Fraction | None, control: int) -> Fraction | None:
    """The cycles of a loop of one piece if its iterations overlapped."""
    assert isinstance(loop.body, Straight)
    if loop.count is None or latency is None:
        return None
    return min(latency, (loop.count - 1) * loop.body.region.least + loop.body.depth + control)


def rounded(value: Fraction | None) -> int | None:
    """Whole cycles."""
    return None if value is None else math.ceil(value)
