"""Cycles and DSPs of the stages of a function, by the factor that their inner loops are unrolled by."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import ceil, gcd, prod

from mlir import ir

from ..customize.nest.first_iteration import joinable
from ..customize.nest.unrolling import Option, StageOptions
from ..errors import ScheduleError
from ..ir.module import Module
from ..ir.walk import LoopView, string_of, trip_count
from ..timing.control.build import TreeOptions
from ..timing.control.spans import Spans
from ..timing.control.tree import Node, Pipeline, nodes
from ..timing.control.trees import Trees
from ..timing.problem.region import LoopBody
from .estimate import device_of
from .resources import unit_resources

_NO_COPIES = "its inner loops put, get, or need one another"


def stage_costs(
    module: Module, function: str, target: str, free: Mapping[ir.Operation, Sequence[LoopView]]
) -> list[StageOptions]:
    """What each stage of a function can be; `free` are its inner loops that may be unrolled, none for others.

    Inner loops count as pipelines. A stage is looked at once: of a pipeline that starts an iteration a cycle, copies
    take its operators once more each and as many fewer iterations, as long as a sum is not needed again before it is
    there. Raises TargetError for a target that is no FPGA.
    """
    device = device_of({"target": target})
    trees = Trees(module, TreeOptions(device, auto_pipeline=True))
    trees.span(function)
    spans = trees.spans[function]
    stages = []
    for part in spans.tree.root.parts:
        op = _loop(part)
        if op is None:
            continue
        latency = spans.of(part).latency
        if latency is None:
            raise ScheduleError(
                f"how often loop nest '{string_of(op, 'allo.nest')}' runs is not known before it does",
                hint="stages can be balanced if all of their loops have constant bounds",
            )
        dsp = unit_resources(spans.of(part).units, device).dsp
        pipes = {node.loops[-1].op: node for node in nodes(part) if isinstance(node, Pipeline)}
        copies = [_Copies(spans, part, view, pipes[view.op]) for view in free.get(op, ()) if view.op in pipes]
        options, limit = [Option(1, ceil(latency), dsp)], "" if copies else _NO_COPIES
        factors = _factors(copies)
        for factor in factors:
            limit = next(filter(None, (one.obstacle(factor, device.limits.banks) for one in copies)), "")
            if limit:
                break
            cycles = ceil(latency - sum(one.gain(factor) for one in copies))
            more = (factor - 1) * sum(unit_resources(one.node.region.units, device).dsp for one in copies)
            if cycles < options[-1].cycles:
                options.append(Option(factor, cycles, dsp + more))
        if copies and not limit and options[-1].factor == max(factors, default=1):
            limit = "its inner loops have no greater common factor"
        stages.append(StageOptions(string_of(op, "allo.nest") or "", tuple(options), limit))
    return stages


def _loop(part: Node) -> ir.Operation | None:
    view = getattr(part, "view", None)
    return None if view is None else view.op


def _factors(copies: Sequence[_Copies]) -> list[int]:
    """The numbers above 1 that divide the trip counts of all loops."""
    whole = gcd(*(one.trips for one in copies))
    return [f for f in range(2, whole + 1) if whole % f == 0]


class _Copies:
    """An inner loop of a stage of which copies may run side by side."""

    def __init__(self, spans: Spans, part: Node, view: LoopView, node: Pipeline) -> None:
        self.node = node
        self.trips = trip_count(view.op) or 1
        top: Node = node
        first = node.view
        outer = joinable(view) if node.view.op == view.op else None
        if outer is not None:
            top = next(found for found in nodes(part) if (op := _loop(found)) is not None and op == outer.op)
            first = outer
        around = [loop.op for loop in view.chain]
        inside = around.index(first.op)
        self.runs = prod(trip_count(op) or 1 for op in around[:inside])
        self.iterations = prod(trip_count(op) or 1 for op in around[inside:])
        self.latency = spans.of(top).latency or Fraction(0)
        self.again = 0 if first.op == view.op else self._update()

    def _update(self) -> int:
        """The cycles from reading an element to having written it again."""
        body = self.node.region.graph.region
        most = 0
        for written in body.nodes:
            if written.kind == "write":
                read = {n.index for n in body.nodes if n.kind == "read" and n.label == written.label}
                most = max(most, _longest(body, written.index, read, {}) or 0)
        return most

    def obstacle(self, factor: int, banks: int) -> str:
        """Why it cannot be unrolled by a factor; empty if it can."""
        if self.node.interval > 1:
            return str(self.node.region.reason)
        if banks and factor > banks:
            return f"{banks:,} banks of an array at most"
        if self.trips // factor < self.again:
            return f"a sum is there after {self.again} cycles, and needed after {self.trips // factor}"
        return ""

    def gain(self, factor: int) -> Fraction:
        """The cycles by which the stage is shorter."""
        node = self.node
        now = self.iterations // factor - 1 + node.depth + node.control
        return self.runs * (self.latency - now)


def _longest(body: LoopBody, at: int, start: set[int], known: dict[int, int | None]) -> int | None:
    """The cycles from the first of some operations to the end of another one; None if its value needs none of them."""
    if at not in known:
        known[at] = 0 if at in start else None
        before = [_longest(body, other, start, known) for other in body.inputs[at]]
        found = [cycles for cycles in before if cycles is not None]
        if found or at in start:
            known[at] = max([0, *found]) + max(body.nodes[at].latency, 1 if body.nodes[at].kind == "write" else 0)
    return known[at]
