"""Cycles and DSPs of the stages of a function, by the factor that their inner loops are unrolled by."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from math import ceil, gcd, prod

from mlir import ir

from ..customize.fifo.vectors import InnerLoop
from ..customize.function.calls import function_around
from ..customize.nest.first_iteration import joinable
from ..customize.nest.unrolling import Option, StageOptions
from ..errors import ScheduleError
from ..ir.module import Module
from ..ir.walk import LoopView, string_of, trip_count
from ..poly import carried_by, extract, runs_of
from ..timing.control.build import TreeOptions
from ..timing.control.paths import StageShape
from ..timing.control.span import Span
from ..timing.control.spans import Spans
from ..timing.control.tree import Node, Pipeline, nodes
from ..timing.control.trees import Trees
from ..timing.problem.region import LoopBody
from .estimate import device_of
from .resources import unit_resources
from .sample_latency import SampleLatency, Shorter, StageSpan

_CHOICE = 1  # cycles to choose one of few banks
_NO_COPIES = "its inner loops need one another, or their streams pass no vectors"


class StageCosts:
    """What a stage of a function takes, by the copies that there are of its inner loops.

    A stage is looked at once, with its inner loops as pipelines: of a pipeline that starts an iteration a cycle, copies
    take its operators once more each and as many fewer iterations, as long as a sum is not needed again before it is
    there.
    """

    def __init__(self, name: str, span: StageSpan, dsp: int, loops: Mapping[LoopView, _Copies]) -> None:
        self.name = name
        self.span = span
        self.cycles = span.plain.latency or Fraction(0)
        self.dsp = dsp
        self.loops = loops

    def cost(self, copies: Mapping[LoopView, int], factor: int) -> Option:
        """With so many copies of each loop, those of a `factor` of the stage."""
        taken = self._taken(copies)
        gain = sum((one.runs * (one.latency - taken[one.top].latency) for one in self._changed(taken)), Fraction(0))
        more = sum((copies[view] - 1) * one.dsp for view, one in self.loops.items())
        return Option(factor, ceil(self.cycles - gain), self.dsp + more)

    def taking(self, copies: Mapping[LoopView, int]) -> Span:
        """The span of the stage with so many copies of each loop."""
        return self.span.taking(self._taken(copies))

    def _taken(self, copies: Mapping[LoopView, int]) -> dict[Node, Shorter]:
        """The cycles of the parts that copies make shorter."""
        found = {}
        for view, one in self.loops.items():
            others = (own.arrays for other, own in self.loops.items() if copies[other] > copies[view])
            cycles = one.cycles(copies[view], in_banks=any(one.updated in arrays for arrays in others))
            if cycles is not None:
                found[one.top] = cycles
        return found

    def _changed(self, taken: Mapping[Node, Shorter]) -> list[_Copies]:
        return [one for one in self.loops.values() if one.top in taken]

    def possible(self, loop: InnerLoop) -> InnerLoop:
        """A loop with those of its widths by which it can be unrolled."""
        if not loop.widths:
            return loop
        own = self.loops.get(loop.view)
        return replace(loop, widths=tuple(w for w in loop.widths if own is not None and not own.obstacle(w)))

    def options(self, loops: Sequence[InnerLoop], *, tails: bool = False) -> StageOptions:
        """What the stage can be, by a factor of its loops, of which each is unrolled by as much of it as may be; with
        `tails` also by factors that divide no trip count."""
        used = [loop for loop in loops if loop.view in self.loops and loop.widths != ()]
        made = {view: 1 for view in self.loops}
        options, limit = [self.cost(made, 1)], "" if used else _NO_COPIES
        free = [self.loops[loop.view] for loop in used if loop.widths is None]
        factors = _factors(free, tails=tails) if free else sorted({w for loop in used for w in loop.widths or ()})
        for factor in factors:
            limit = next(filter(None, (one.obstacle(factor) for one in free)), "")
            if limit:
                break
            made |= {loop.view: loop.copies(factor) for loop in used}
            option = self.cost(made, factor)
            if option.cycles < options[-1].cycles:
                options.append(option)
        if used and not limit and options[-1].factor == max(factors, default=1):
            limit = "its inner loops have no greater common factor" if free else "its streams pass no wider vectors"
        return StageOptions(self.name, tuple(options), limit)


def stage_costs(
    module: Module, function: str, target: str, loops: Sequence[LoopView]
) -> dict[ir.Operation, StageCosts]:
    """The costs of the stages of a function, by their loops, where `loops` are the inner ones.

    Raises TargetError for a target that is no FPGA.
    """
    device = device_of({"target": target})
    trees = Trees(module, TreeOptions(device, auto_pipeline=True))
    trees.span(function)
    spans = trees.spans[function]
    stages = {}
    for part in spans.tree.root.parts:
        op = _loop(part)
        if op is None:
            continue
        latency = spans.of(part).latency
        name = string_of(op, "allo.nest") or ""
        if latency is None:
            raise ScheduleError(
                f"how often loop nest '{name}' runs is not known before it does",
                hint="stages can be balanced if all of their loops have constant bounds",
            )
        pipes = {node.loops[-1].op: node for node in nodes(part) if isinstance(node, Pipeline)}
        found = {}
        for view in (view for view in loops if view.op in pipes):
            node = pipes[view.op]
            dsp = unit_resources(node.region.units, device).dsp
            found[view] = _Copies(spans, part, view, node, dsp, device.limits.banks)
        stages[op] = StageCosts(name, StageSpan(spans, part), unit_resources(spans.of(part).units, device).dsp, found)
    return stages


class SampleCosts:
    """The cycles of one sample through all stages, by the copies of their inner loops."""

    def __init__(self, stages: Sequence[StageCosts]) -> None:
        self.stages = stages
        self.latency = SampleLatency(stages[0].span.spans, {stage.span.part: stage.span for stage in stages})
        self.shapes: dict[tuple[int, ...], StageShape] = {}

    def cycles(self, copies: Mapping[LoopView, int]) -> int:
        """With so many copies of each loop."""
        return self.latency.of([self._shape(number, stage, copies) for number, stage in enumerate(self.stages)])

    def _shape(self, number: int, stage: StageCosts, copies: Mapping[LoopView, int]) -> StageShape:
        key = (number, *(copies[view] for view in stage.loops))
        if key not in self.shapes:
            self.shapes[key] = self.latency.shape(number, stage.taking(copies))
        return self.shapes[key]


def _loop(part: Node) -> ir.Operation | None:
    view = getattr(part, "view", None)
    return None if view is None else view.op


def _factors(copies: Sequence[_Copies], *, tails: bool) -> list[int]:
    """The numbers above 1 that divide the trip counts of all loops; with `tails` those that leave a loop fewer
    iterations than any smaller one."""
    whole = gcd(*(one.trips for one in copies))
    if not tails:
        return [f for f in range(2, whole + 1) if whole % f == 0]
    most = max(one.trips for one in copies)
    return [f for f in range(2, most + 1) if any(-(-one.trips // f) < -(-one.trips // (f - 1)) for one in copies)]


class _Copies:
    """An inner loop of a stage of which copies may run side by side."""

    def __init__(self, spans: Spans, part: Node, view: LoopView, node: Pipeline, dsp: int, banks: int) -> None:
        self.node = node
        self.dsp = dsp
        self.banks = banks
        self.trips = trip_count(view.op) or 1
        top: Node = node
        first = node.view
        outer = joinable(view) if node.view.op == view.op else None
        if outer is not None:
            top = next(found for found in nodes(part) if (op := _loop(found)) is not None and op == outer.op)
            first = outer
        around = [loop.op for loop in view.chain]
        inside = around.index(first.op)
        self.top = top
        self.inner = spans.of(node).latency or Fraction(0)
        counted = runs_of(first.op.block)  # under conditions not as often as the loops around it say
        most = prod(trip_count(op) or 1 for op in around[:inside])
        self.runs = most if counted.value is None else counted.value
        self.iterations = prod(trip_count(op) or 1 for op in around[inside:])
        self.latency = spans.of(top).latency or Fraction(0)
        self.again, self.updated = (0, "") if first.op == view.op else self._update()
        self.turns = self.trips * (_turns(view.chain[inside:-1]) if self.again else 1)
        self.arrays = {n.label for n in node.region.graph.region.nodes if n.kind in ("read", "write")}

    def _update(self) -> tuple[int, str]:
        """The cycles from reading an element to having written it again, and of which array it is."""
        body = self.node.region.graph.region
        found = [(0, "")]
        for written in body.nodes:
            if written.kind == "write":
                read = {n.index for n in body.nodes if n.kind == "read" and n.label == written.label}
                found.append((_longest(body, written.index, read, {}) or 0, written.label))
        return max(found)

    def obstacle(self, factor: int) -> str:
        """Why it cannot be unrolled by a factor; empty if it can."""
        if self.node.interval > 1:
            return str(self.node.region.reason)
        if self.banks and factor > self.banks:
            return f"{self.banks:,} banks of an array at most"
        if (needed := self._left(self.turns, factor)) < self.again:
            return f"a sum is there after {self.again} cycles, and needed after {needed}"
        return ""

    def _left(self, iterations: int, factor: int) -> int:
        """How many iterations there are with so many copies, of those of the loop and loops around it."""
        return iterations // self.trips * -(-self.trips // factor)

    def cycles(self, factor: int, *, in_banks: bool) -> Shorter | None:
        """What one run of `top` takes, None if it stays; `in_banks`: others want more banks of what it updates, so
        that an element is chosen out of them, and a sum may wait for that."""
        wait = self.again + _CHOICE
        interval = -(-wait // self._left(self.turns, factor)) if in_banks and self.again else 1
        if factor == 1 and interval == 1:
            return None
        now = (self._left(self.iterations, factor) - 1) * interval + self.node.depth + self.node.control
        fewer = self.trips - interval * self._left(self.trips, factor)
        return Shorter(Fraction(now), self.inner, Fraction(fewer))


def _turns(around: Sequence[LoopView]) -> int:
    """The iterations of the loops around an inner one, but for those of the innermost loop whose iterations need one
    another and of what is around that: as many sums take turns."""
    if not around:
        return 1
    function = around[0].chain[0].op
    model = extract(function_around(function), function)
    arrays = replace(model, accesses=tuple(access for access in model.accesses if not access.buffer.is_stream))
    turns = 1
    for view in reversed(around):
        if (trip_count(view.op) or 1) > 1 and carried_by(arrays, view.op) is not None:
            break
        turns *= trip_count(view.op) or 1
    return turns


def _longest(body: LoopBody, at: int, start: set[int], known: dict[int, int | None]) -> int | None:
    """The cycles from the first of some operations to the end of another one; None if its value needs none of them."""
    if at not in known:
        known[at] = 0 if at in start else None
        before = [_longest(body, other, start, known) for other in body.inputs[at]]
        found = [cycles for cycles in before if cycles is not None]
        if found or at in start:
            known[at] = max([0, *found]) + max(body.nodes[at].latency, 1 if body.nodes[at].kind == "write" else 0)
    return known[at]
