"""Latency and interval of a function: its loops, straight code and calls, one after the other or as stages."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import dataclass, field, replace
from fractions import Fraction

from mlir import ir

from ..ir.access import base_of, callee_name, is_copy
from ..ir.module import Module
from ..ir.walk import LOOP_OPERATIONS, LoopView, entry_block, loops_of
from ..poly import TimeLoop, Trips, model_of
from ..target import Fpga
from ..timing.control.independent import at_once, independent
from ..timing.control.span import Span, all_units, alternatives, in_turn, repeated, sequence, uncounted
from ..timing.control.stages import Overlap, stages
from ..timing.control.timeline import Timeline
from ..timing.control.tokens import closed, settled, step_of
from ..timing.pipeline import ScheduledRegion, region_span
from ..timing.problem.memory import ArrayMemory, array_memory, external_memory
from ..timing.problem.region import RegionBuilder, Surroundings, unbounded_loop
from ..timing.reason import Reason
from ..timing.roles import Roles, is_nested, is_pure, is_straight
from ..timing.schedule import StaticSchedule
from ..timing.vendor_rules import AUTOMATIC, scheduled_by_tool
from .advice.intervals import advise
from .advice.question import Proposal, Question
from .advice.short_loops import around_short_loops
from .advice.stages import deeper
from .calls import Callee, copy_span
from .off_chip import OffChip
from .report.rows import Rows, operations_of, rounded
from .trips import TripCounts, time_loops


@dataclass(frozen=True, slots=True)
class EstimateOptions:
    """How a module is estimated."""

    target: Fpga
    auto_pipeline: bool
    trips: Mapping[str, int]
    off_chip: OffChip = field(default_factory=OffChip)
    unsafe_math: bool = False
    assumes: bool = True  # what the module does not say, and rewrites before scheduling do


class FunctionEstimator:
    """One function with a body."""

    def __init__(
        self, module: Module, name: str, options: EstimateOptions, callee: Callable[[str], Callee]
    ) -> None:
        self.name = name
        self.function = function = module.function(name)
        self.options = options
        self.target = options.target
        self.callee = callee
        self.views = {view.op: view for view in loops_of(function)}
        self.trip_counts = TripCounts(self.name, options.trips)
        self.rows = Rows(self.name, self.views, self.trip_counts)
        self.notes: list[str] = []
        self.memories: dict[ir.Value, ArrayMemory] = {}
        self.parts: list[Span] = []
        self.timelines: dict[ir.Operation, Timeline] = {}  # of the function and its loops
        self.proposals: dict[ir.Operation, Proposal] = {}  # by the loop that they are about, or the function
        self.assumed: Mapping[ir.Operation, Proposal] | None = None  # steps that are taken; None: advise some
        self.schedules: dict[tuple[ir.Operation, bool], ScheduledRegion] = {}
        self.roles = Roles(self.views, options.auto_pipeline, self._is_taken)
        self.of_loops: dict[ir.Operation, StaticSchedule] = {}  # that of the body of each innermost loop
        model = model_of(module, name)
        entry = entry_block(function)
        assert entry is not None
        self.entry = entry
        self.model = model
        self.around = Surroundings.of(
            model, entry, self.target, self.memory_of, self._call_cost, assumes=options.assumes
        )

    @property
    def is_dataflow(self) -> bool:
        return "allo.dataflow" in self.function.operation.attributes

    def assuming(self, assumed: Mapping[ir.Operation, Proposal], callee: Callable[[str], Callee]) -> Span:
        """The whole function if some steps were taken, and with other callees; changes nothing here."""
        other = copy(self)
        other.of_loops = {}
        other.rows, other.notes = Rows(self.name, self.views, self.trip_counts), []
        other.assumed, other.callee, other.proposals, other.timelines = assumed, callee, {}, {}
        other.around = replace(self.around, call_cost=other._call_cost)
        other.roles = replace(self.roles, asked=other._is_taken)
        return other.run()

    def run(self) -> Span:
        """The whole function; fills `rows`, `notes`, `memories`, `parts` and `proposals`."""
        parts, names = self._parts(operations_of(self.entry))
        self.parts = parts
        if self.is_dataflow and parts:
            overlap = self._overlap(self.function.operation, self.name, parts, names)
            span, proposal = overlap.span, deeper(overlap) if self.assumed is None else None
            if proposal is not None:
                self.proposals[self.function.operation] = proposal
        else:
            span = settled(self._in_order(self.function.operation, self.name, parts, names), self.around.accesses)
        taken = self._taken(self.function.operation)
        latency = span.latency if taken is None else taken.latency
        latency = None if latency is None else latency + self.target.control.function
        return replace(span, latency=latency, ends=closed(span.ends))

    def seen(self, span: Span) -> Callee:
        """What callers see of the function."""
        straight = not self.views and not span.callees
        interval = Fraction(1) if straight else span.interval if span.interval is not None else span.latency
        return Callee(span.latency, interval, span.ends, tuple(self.entry.arguments))

    def _taken(self, op: ir.Operation) -> Proposal | None:
        """The step for a loop or the function that is assumed to be taken."""
        return None if self.assumed is None else self.assumed.get(op)

    def _is_taken(self, op: ir.Operation) -> bool:
        return self._taken(op) is not None

    def _overlap(self, owner: ir.Operation, of: str, parts: list[Span], names: list[str]) -> Overlap:
        asked = names if self.assumed is None else []  # else only the time of the whole counts
        found = stages([settled(part, self.around.accesses) for part in parts], asked)
        self.timelines[owner] = Timeline(of, True, found.parts, found.links)
        self.notes += [f"{self.name}: {note}" for note in found.notes]
        return found

    def _in_order(self, owner: ir.Operation, of: str, parts: list[Span], names: list[str]) -> Span:
        """Parts one after the other, or at once where they share nothing and the tool sees that."""
        groups = independent(parts) if self.target.rules.overlapped_nests else [[part] for part in parts]
        self.timelines[owner] = in_turn(of, names, groups)
        found = sequence([at_once(group) for group in groups])
        return found if self.target.shares_operators else replace(found, units=all_units(parts))

    def latency_of(self, op: ir.Operation) -> Fraction | None:
        """The cycles of a loop or call of this function."""
        if op.name == "func.call":
            return self.callee(callee_name(op)).latency
        row = self.rows.made.get(op)
        return None if row is None or row.latency is None else Fraction(row.latency)

    def memory_of(self, value: ir.Value, name: str) -> ArrayMemory:
        """What an array of this function is made of."""
        value = base_of(value)
        if value not in self.memories:
            external = None
            if isinstance(value.owner, ir.Block):
                external = self.options.off_chip.stays.get(self.name, {}).get(ir.BlockArgument(value).arg_number)
            self.memories[value] = (
                array_memory(value, name, self.target) if external is None else external_memory(value, name, external)
            )
        return self.memories[value]

    def _call_cost(self, name: str) -> tuple[int, int]:
        return self.callee(name).cost(self.target)

    # -- blocks ----------------------------------------------------------------------------------------

    def _parts(self, block: list[ir.Operation]) -> tuple[list[Span], list[str]]:
        """What a block consists of, in order, with names: loops, calls, conditions around them, straight code."""
        parts: list[Span] = []
        names: list[str] = []
        straight: list[ir.Operation] = []

        def flush() -> None:
            if any(not is_pure(op) for op in straight):
                span = self._straight(list(straight))
                if span.latency or span.ends.puts or span.ends.gets:
                    parts.append(span)
                    names.append("straight code")
            straight.clear()

        for op in block:
            if is_straight(op):
                straight.append(op)
                continue
            flush()
            if op.name in LOOP_OPERATIONS:
                parts.append(self._loop(self.views[op]))
                names.append(f"loop '{self.views[op].name}'")
            elif op.name == "func.call":
                parts.append(self.callee(callee_name(op)).span(op, self.target))
                names.append(f"'{callee_name(op)}'")
            elif is_copy(op):
                parts.append(copy_span(op, self.target))
                names.append("copy")
            else:
                branches = [sequence(self._parts(operations_of(b))[0]) for r in op.regions for b in r.blocks]
                parts.append(alternatives(branches))
                names.append("condition")
        flush()
        return parts, names

    def _straight(self, block: list[ir.Operation]) -> Span:
        done = self._scheduled(block[0], (), block, None)
        self.rows.unrolled(block)
        return region_span(done, Fraction(done.schedule.depth), Fraction(0), Fraction(1))

    def _scheduled(
        self, key: ir.Operation, time: tuple[TimeLoop, ...], block: list[ir.Operation], requested: int | None
    ) -> ScheduledRegion:
        """The schedule of a block in these loops, found once for each key unless callees are in it."""
        known = self.schedules.get((key, requested is not None))
        if known is None:
            known = scheduled_by_tool(
                lambda: RegionBuilder(self.around, time).build(block), self.target, requested,
                asked=AUTOMATIC not in key.attributes, reassociate=self.options.unsafe_math,
            )  # fmt: skip
            if all(node.kind != "call" for node in known.graph.region.nodes):
                self.schedules[key, requested is not None] = known
        return known

    # -- loops -----------------------------------------------------------------------------------------

    def _loop(self, view: LoopView) -> Span:
        op = view.op
        trips = self.trip_counts.of(view)
        if op.name == "scf.while":
            body = self._body(view)
            self.rows.add(view, "sequential", None, body.latency)
            self.notes.append(f"{self.name}: how often the while loop '{view.name}' runs is not known")
            control = self.target.control
            return repeated(body, None, control.iteration, control.loop, step_of(self.model, view, trips))
        if trips.mean is None:
            most = "" if trips.greatest is None else f" (at most {trips.greatest} times)"
            self.notes.append(
                f"{self.name}: how often loop '{view.name}' runs is known at run time only{most}; "
                f'state it with trips={{"{view.name}": ...}}'
            )
        if "allo.spatial" in op.attributes:
            return self._spatial(view, trips)
        chain = self.roles.chain(view)
        if chain:
            obstacle = unbounded_loop(operations_of(chain[-1].body))
            if obstacle is None:
                return self._pipelined(chain)
            inner = self.views[obstacle].name
            self.notes.append(
                f"{self.name}: loop '{chain[-1].name}' is not pipelined, since the extent of loop '{inner}' in it "
                "changes, so that it cannot be unrolled"
            )
        if "allo.dataflow" in op.attributes:
            return self._dataflow(view, trips)
        if not is_nested(view):
            return self._leaf(view, trips)
        if "allo.unroll" in op.attributes and (factor := ir.IntegerAttr(op.attributes["allo.unroll"]).value) != 1:
            copies = f"unrolled by {factor}" if factor else "unrolled"
            self.notes.append(
                f"{self.name}: loop '{view.name}' is {copies} with loops inside, whose copies run one after the other: "
                "it gains nothing"
            )
        body = self._body(view)
        control = self.target.control
        span = repeated(body, trips.mean, control.iteration, control.loop, step_of(self.model, view, trips))
        inside = [self.trip_counts.of(inner) for inner in self.views.values() if view in inner.chain[:-1]]
        proposal = around_short_loops(self.rows.name(view), trips, inside)
        if proposal is not None:
            self.proposals[view.op] = proposal
        self.rows.add(view, "sequential", span.latency, body.latency, bound=self.rows.bound(view, span.latency))
        return span

    def _body(self, view: LoopView) -> Span:
        blocks = [block for region in view.op.regions for block in region.blocks]
        parts, names = self._parts([op for block in blocks for op in operations_of(block)])
        return self._in_order(view.op, self.rows.name(view), parts, names)


    def _pipelined(self, chain: list[LoopView]) -> Span:
        last = chain[-1]
        time = time_loops(chain, self.model, self.trip_counts)
        attributes = last.op.attributes
        requested = ir.IntegerAttr(attributes["allo.pipeline"]).value if "allo.pipeline" in attributes else 1
        done = self._scheduled(last.op, time, operations_of(last.body), requested)
        trips: Fraction | None = Fraction(1)
        for view, loop in zip(chain, time, strict=True):
            value = self.trip_counts.of(view).mean
            value = None if value is None else Fraction(-(-value // loop.factor)) if loop.factor > 1 else value
            trips = None if value is None or trips is None else trips * value
        around = 0 if "allo.rewind" in attributes else self.target.control.pipelined_loop
        names = tuple(self.rows.name(outer) for outer in last.chain)
        runs = tuple(self.trip_counts.of(view).mean for view in chain)
        asked = Question(
            self.name, self.model, done, requested, last.chain, names, self.around, runs, trips, around,
            self.options.auto_pipeline or self.target.rules.automatic_pipelines is not None,
        )  # fmt: skip
        total, bound = asked.latency, asked.at(done.least)
        if (taken := self._taken(last.op)) is not None:
            done, total = taken.made(done), taken.latency if taken.latency is not None else total
        elif self.assumed is None and (proposal := advise(asked)) is not None:
            self.proposals[last.op] = proposal
        self.of_loops[last.op] = done.schedule
        for view in chain[:-1]:
            self.rows.add(view, "flattened", total, bound=bound)
        depth = Fraction(done.schedule.depth)
        self.rows.add(last, "pipelined", total, depth, done.interval, requested, done.reason, bound)
        self.rows.unrolled(operations_of(last.body))
        return region_span(done, total, Fraction(around), trips, pipelined=True)

    def _leaf(self, view: LoopView, trips: Trips) -> Span:
        """A loop without loops in it whose iterations do not overlap."""
        time = time_loops([view], self.model, self.trip_counts)
        done = self._scheduled(view.op, time, operations_of(view.body), None)
        count = trips.mean
        if count is not None and time[0].factor > 1:
            count = Fraction(-(-count // time[0].factor))
        self.of_loops[view.op] = done.schedule
        control = self.target.control
        depth = Fraction(done.schedule.depth)
        inner = region_span(done, depth, Fraction(0), Fraction(1))
        span = repeated(inner, count, control.iteration, control.loop, step_of(self.model, view, trips, time[0].factor))
        bound = None if count is None else (count - 1) * done.least + depth + control.pipelined_loop
        if span.latency is not None and bound is not None and bound >= span.latency:
            bound = span.latency
        elif count is not None and count > 1:
            self.proposals[view.op] = Proposal(f's.pipeline("{self.rows.name(view)}")')
        self.rows.add(view, "sequential", span.latency, depth, bound=bound)
        self.rows.unrolled(operations_of(view.body))
        return span

    def _dataflow(self, view: LoopView, trips: Trips) -> Span:
        parts, names = self._parts(operations_of(view.body))
        overlap = self._overlap(view.op, self.rows.name(view), parts, names)
        body = overlap.span
        latency = None
        if trips.mean is not None and body.latency is not None and body.interval is not None:
            latency = (trips.mean - 1) * body.interval + body.latency + self.target.control.loop
        reason = Reason("call", f"the slowest stage, {overlap.slowest}, takes {rounded(body.interval)} cycles")
        interval = None if body.interval is None else math.ceil(body.interval)
        self.rows.add(view, "dataflow", latency, body.latency, interval, None, reason)
        return replace(body, latency=latency, interval=None)

    def _spatial(self, view: LoopView, trips: Trips) -> Span:
        """Processing elements: copies of the body that run at once, each behind the neighbour before it."""
        body = self._body(view)
        count = int(trips.mean) if trips.mean is not None else 1
        puts = {base: event for (base, _), event in body.ends.puts.items()}
        hops = [puts[base].first - got.first + 1 for (base, _), got in body.ends.gets.items() if base in puts]
        skew = max(hops, default=Fraction(0))  # positions that put before they get do not wait for a neighbour
        skew = max(skew, Fraction(0)) * (count - 1)
        units = Counter({operator: n * count for operator, n in body.units.items()})
        callees = Counter({name: n * count for name, n in body.callees.items()})
        ends = replace(body.ends, puts=uncounted(body.ends.puts), gets=uncounted(body.ends.gets))
        latency = None if body.latency is None or trips.mean is None else body.latency + skew
        self.rows.add(view, "spatial", latency, body.latency)
        return Span(latency, units, callees, ends, body.register_bits * count)
