"""Spans of the nodes of a control tree: latency, units, ends of streams, stalls of stages."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction

from mlir import ir

from ...ir.access import accessed, asks_stream, base_of, callee_name, is_peek, looks, moves_element
from ...ir.walk import location_of
from . import tree
from .calls import Callee
from .chains import handed_on
from .span import (
    Ends,
    Event,
    Span,
    Stream,
    all_units,
    alternatives,
    apart,
    at_once,
    in_turn,
    independent,
    repeated,
    sequence,
    stream_key,
    together,
    uncounted,
)  # fmt: skip
from .stages import Overlap, stages
from .timeline import Timeline
from .tokens import settled


class Spans:
    """The span of each node of a tree, found once; `listed`: with all that is said of the parts of a dataflow.

    `known` are those of a tree that shares nodes with this one: these are without calls, and have the same spans.
    """

    def __init__(
        self,
        function: tree.FunctionTree,
        callee: Callable[[str], Callee],
        *,
        listed: bool = True,
        known: Spans | None = None,
    ) -> None:
        self.tree = function
        self.target = function.around.target
        self.callee = callee
        self.listed = listed
        self.apart = self.target.rules.own_hardware is not None  # only some operations share units
        self.choice = self.target.control.size.choice_lut_per_bit
        self.found: dict[tree.Node, Span] = {} if known is None else known.found.copy()
        self.exact: dict[tree.Node, Span] = {} if known is None else known.exact.copy()
        self.even: dict[tree.Node, bool] = {} if known is None else known.even.copy()
        self.overlaps: dict[tree.Dataflow, Overlap] = {}

    @property
    def whole(self) -> Span:
        """The function: what one call of it is."""
        span = self.of(self.tree.root)
        if isinstance(self.tree.root, tree.Sequence):
            span = self._settled(self.tree.root)
        latency = span.latency if self.tree.stated is None else self.tree.stated
        latency = None if latency is None else latency + self.tree.control
        return replace(span, latency=latency)

    @property
    def parts(self) -> list[Span]:
        """The parts of the function."""
        return [self.of(part) for part in self.tree.root.parts]

    def of(self, node: tree.Node) -> Span:
        """One run of a node."""
        if node not in self.found:
            self.found[node] = self._folded(node)
        return self.found[node]

    def overlap(self, node: tree.Dataflow) -> Overlap:
        """How the parts of a dataflow overlap."""
        if node not in self.overlaps:
            parts = [self._settled(part) for part in node.parts]
            self.overlaps[node] = stages(parts, tree.part_names(node.parts) if self.listed else [])
        return self.overlaps[node]

    def _settled(self, node: tree.Node) -> Span:
        """One run of a node, with the times of what it puts and gets under conditions."""
        if node not in self.exact:
            self.exact[node] = settled(self, node)
        return self.exact[node]

    def groups(self, node: tree.Sequence) -> list[list[Span]]:
        """Parts one after the other, or at once where they share nothing and the tool sees that."""
        parts = [self.of(part) for part in node.parts]
        return independent(parts) if self.target.rules.overlapped_nests else [[part] for part in parts]

    def is_even(self, node: tree.Node) -> bool:
        """Whether all runs of a node take the same number of cycles."""
        if node not in self.even:
            self.even[node] = self._is_even(node)
        return self.even[node]

    def _is_even(self, node: tree.Node) -> bool:
        match node:
            case tree.Straight() | tree.Pipeline():
                loops = node.loops if isinstance(node, tree.Pipeline) else ()
                constant = [self.tree.trips.of(view).constant is not None for view in loops]
                called = {callee_name(use.op) for use in node.region.graph.region.nodes if use.op.name == "func.call"}
                return all(constant) and all(self.callee(name).is_even for name in called)
            case tree.Invocation():
                return self.callee(node.callee).is_even
            case tree.Branch():
                return len(self._lengths(node)) == 1 and all(map(self.is_even, tree.possible_branches(node)))
            case tree.Repeat() | tree.Spatial():
                return node.trips.constant is not None and self.is_even(node.body)
            case _:
                return self.of(node).latency is not None and all(map(self.is_even, tree.parts_of(node)))

    def _lengths(self, node: tree.Branch) -> set[Fraction | None]:
        """The cycles of a condition, whichever branch runs."""
        found = {self.of(branch).latency for branch in tree.possible_branches(node)}
        return found if tree.always_runs(node) else found | {Fraction(0)}

    def depends_on_data(self, node: tree.Branch) -> bool:
        """Whether what is known at run time only decides how long a condition takes."""
        lengths = self._lengths(node)
        return node.shares is None and len(lengths) > 1 and None not in lengths

    def _folded(self, node: tree.Node) -> Span:
        match node:
            case tree.Straight() | tree.Pipeline():
                found = _of_region(node)
                if not self.apart:
                    return found
                built = node.region.units_built(self.target.control.size)
                return replace(found, units=built, reusable=node.region.shared_units()[1])
            case tree.Repeat(body=tree.Dataflow()):
                return self._again(node)
            case tree.Repeat():
                return repeated(self.of(node.body), node.count, node.each, node.control)
            case tree.Sequence():
                found = sequence([at_once(group) for group in self.groups(node)])
                if self.apart:
                    return apart(found, map(self.of, node.parts), self.choice)
                shared = self.target.shares_operators
                return found if shared else replace(found, units=all_units(map(self.of, node.parts)))
            case tree.Dataflow():
                return self.overlap(node).span
            case tree.Branch():
                branches = [sequence([self.of(part) for part in one.parts]) for one in node.branches]
                within = [self.of(part) for one in node.branches for part in one.parts]
                found = alternatives(branches, node.shares)
                return apart(found, within, self.choice) if self.apart else found
            case tree.Invocation():
                return self.callee(node.callee).span(node.op, node.control)
            case tree.ArrayCopy():
                source, result = map(base_of, node.op.operands)
                ends = Ends({}, {}, frozenset({source}), frozenset({result}))
                return Span(None if node.cycles is None else Fraction(node.cycles), ends=ends)
            case tree.Spatial():
                return self._elements(node)

    def _again(self, node: tree.Repeat) -> Span:
        """A loop whose body starts again when its slowest stage is free."""
        body = self.of(node.body)
        latency = None
        if node.count is not None and body.latency is not None and body.interval is not None:
            latency = (node.count - 1) * body.interval + body.latency + node.control
        return replace(body, latency=latency, interval=None)

    def _elements(self, node: tree.Spatial) -> Span:
        """Processing elements: copies of the body that run at once, each behind the neighbour before it, or in turn."""
        body, trips = self.of(node.body), node.trips.mean
        count = int(trips) if trips is not None else 1
        puts = {base: event for (base, _), event in body.ends.puts.items()}
        hops = [puts[base].first - got.first + 1 for (base, _), got in body.ends.gets.items() if base in puts]
        skew = max(hops, default=Fraction(0))  # positions that put before they get do not wait for a neighbour
        skew = max(skew, Fraction(0)) * (count - 1)
        units = Counter({operator: n * count for operator, n in body.units.items()})
        callees = Counter({name: n * count for name, n in body.callees.items()})
        gets, handed = uncounted(body.ends.gets), () if node.in_turn else handed_on(node)
        for stream, got in gets.items():
            if stream[0] in handed:  # the last one that comes from outside goes on to all other positions
                gets[stream] = replace(got, tail=got.tail + skew)
        ends = replace(body.ends, puts=uncounted(body.ends.puts), gets=gets)
        latency = None
        if body.latency is not None and trips is not None:
            latency = body.latency + node.control
            latency = trips * latency if node.in_turn else latency + skew
        return Span(latency, units, callees, ends, body.register_bits * count)


def _of_region(node: tree.Straight | tree.Pipeline) -> Span:
    """Straight code or a pipeline, whose loops are part of it, with the times of its streams and its arrays."""
    if isinstance(node, tree.Pipeline):
        latency, enter, leave, runs = node.latency, node.enter, node.leave, node.trips
    else:
        latency, enter, leave, runs = Fraction(node.depth), 0, 0, Fraction(1)
    puts: dict[Stream, Event] = {}
    gets: dict[Stream, Event] = {}
    reads: set[ir.Value] = set()
    writes: set[ir.Value] = set()
    region, schedule = node.region.graph.region, node.region.schedule
    overlaps = schedule.interval is not None and schedule.interval < schedule.depth
    for use in region.nodes:
        if use.memory is None:
            continue
        if looks(use.op) and not is_peek(use.op):
            continue  # waits for nothing
        if not moves_element(use.op):
            (reads if use.kind == "read" else writes).add(base_of(accessed(use.op)))
            continue
        stream = stream_key(use.op.operands[0])
        events = gets if use.kind == "read" else puts
        first = Fraction(enter + schedule.first(use.index))
        tail = Fraction(schedule.depth - schedule.last(use.index) + leave)
        count = None if use.guards or runs is None or asks_stream(use.op) else runs * region.count(use.around)
        count = Fraction(0) if is_peek(use.op) else count  # waits, and leaves it to the get behind it
        lag = Fraction(schedule.first(use.index) if overlaps else 0)
        event = Event(first, tail, count, lag)
        events[stream] = together(events[stream], event) if stream in events else event
    callees = Counter[str]()
    for use in region.nodes:
        if use.op.name == "func.call":  # each copy has an instance
            callees[callee_name(use.op)] += region.count(use.around)
    ends = Ends(puts, gets, frozenset(reads), frozenset(writes))
    return Span(latency, node.region.units, callees, ends, schedule.register_bits())


def seen(spans: Spans, span: Span) -> Callee:
    """What callers see of a function."""
    straight = not spans.tree.views and not span.callees
    interval = Fraction(1) if straight else span.interval if span.interval is not None else span.latency
    return Callee(span.latency, interval, span.ends, tuple(spans.tree.entry.arguments), spans.is_even(spans.tree.root))


def timelines(spans: Spans) -> Iterator[Timeline]:
    """When parts run: those of the function and of one iteration of each loop in it that consists of several."""
    whole = spans.tree
    owned: list[tuple[str, tree.Node]] = [(whole.name, whole.root)]
    loops = (node for node in tree.nodes(whole.root) if isinstance(node, tree.Repeat | tree.Spatial))
    owned += [(whole.loop_name(loop.view), loop.body) for loop in loops]
    for name, node in owned:
        if isinstance(node, tree.Sequence | tree.Dataflow) and len(node.parts) > 1:
            if isinstance(node, tree.Dataflow):
                found = spans.overlap(node)
                yield Timeline(name, True, found.parts, found.links)
            else:
                yield in_turn(name, tree.part_names(node.parts), spans.groups(node))


def notes(spans: Spans) -> list[str]:
    """Remarks on loops and stages, in the order of the text."""
    found: list[str] = []

    def visit(node: tree.Node) -> None:
        remarks = node.remarks if isinstance(node, tree.Pipeline | tree.Repeat | tree.Spatial) else ()
        if isinstance(node, tree.Branch) and spans.depends_on_data(node):
            at = location_of(node.op)
            found.append(
                f"whether the condition{'' if at is None else f' in line {at.line}'} holds is known at run time only; "
                "counted is the longest branch each time"
            )
        at_end = isinstance(node, tree.Repeat) and node.view.op.name == "scf.while"
        found.extend(() if at_end else remarks)
        for part in tree.parts_of(node):
            visit(part)
        if isinstance(node, tree.Dataflow):
            found.extend(spans.overlap(node).notes)
        found.extend(remarks if at_end else ())

    visit(spans.tree.root)
    return [f"{spans.tree.name}: {note}" for note in found]
