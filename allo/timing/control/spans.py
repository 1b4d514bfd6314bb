"""Spans of the nodes of a control tree: latency, units, ends of streams, stalls of stages."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction

from ...ir.access import base_of, callee_name
from .calls import Callee
from .independent import at_once, independent
from .regions import region_span
from .span import Ends, Span, all_units, alternatives, in_turn, repeated, sequence, uncounted
from .stages import Overlap, stages
from .timeline import Timeline
from .tokens import settled
from .tree import (
    ArrayCopy,
    Branch,
    Dataflow,
    FunctionTree,
    Invocation,
    Node,
    Pipeline,
    Repeat,
    Sequence,
    Spatial,
    Straight,
    label,
    nodes,
    parts_of,
)


class Spans:
    """The span of each node of a tree, found once; `listed`: with all that is said of the parts of a dataflow."""

    def __init__(self, tree: FunctionTree, callee: Callable[[str], Callee], *, listed: bool = True) -> None:
        self.tree = tree
        self.target = tree.around.target
        self.callee = callee
        self.listed = listed
        self.found: dict[Node, Span] = {}
        self.overlaps: dict[Dataflow, Overlap] = {}
        self.even: dict[Node, bool] = {}

    @property
    def whole(self) -> Span:
        """The function: what one call of it is."""
        span = self.of(self.tree.root)
        if isinstance(self.tree.root, Sequence):
            span = settled(self, self.tree.root)
        latency = span.latency if self.tree.stated is None else self.tree.stated
        latency = None if latency is None else latency + self.tree.control
        return replace(span, latency=latency)

    @property
    def parts(self) -> list[Span]:
        """The parts of the function."""
        return [self.of(part) for part in self.tree.root.parts]

    def of(self, node: Node) -> Span:
        """One run of a node."""
        if node not in self.found:
            self.found[node] = self._folded(node)
        return self.found[node]

    def overlap(self, node: Dataflow) -> Overlap:
        """How the parts of a dataflow overlap."""
        if node not in self.overlaps:
            parts = [settled(self, part) for part in node.parts]
            self.overlaps[node] = stages(parts, [label(part) for part in node.parts] if self.listed else [])
        return self.overlaps[node]

    def groups(self, node: Sequence) -> list[list[Span]]:
        """Parts one after the other, or at once where they share nothing and the tool sees that."""
        parts = [self.of(part) for part in node.parts]
        return independent(parts) if self.target.rules.overlapped_nests else [[part] for part in parts]

    def is_even(self, node: Node) -> bool:
        """Whether all runs of a node take the same number of cycles."""
        if node not in self.even:
            self.even[node] = self._is_even(node)
        return self.even[node]

    def _is_even(self, node: Node) -> bool:
        match node:
            case Straight() | Pipeline():
                constant = [self.tree.trips.of(view).constant is not None for view in getattr(node, "loops", ())]
                called = {callee_name(use.op) for use in node.region.graph.region.nodes if use.op.name == "func.call"}
                return all(constant) and all(self.callee(name).is_even for name in called)
            case Invocation():
                return self.callee(node.callee).is_even
            case Branch():
                taken = {self.of(branch).latency for branch in node.branches}
                return len(node.branches) > 1 and len(taken) == 1 and all(map(self.is_even, node.branches))
            case Repeat() | Spatial():
                return node.trips.constant is not None and self.is_even(node.body)
            case _:
                return self.of(node).latency is not None and all(map(self.is_even, parts_of(node)))

    def _folded(self, node: Node) -> Span:
        match node:
            case Straight() | Pipeline():
                return region_span(node)
            case Repeat(body=Dataflow()):
                return self._again(node)
            case Repeat():
                return repeated(self.of(node.body), node.count, node.each, node.control)
            case Sequence():
                found = sequence([at_once(group) for group in self.groups(node)])
                shared = self.target.shares_operators
                return found if shared else replace(found, units=all_units(map(self.of, node.parts)))
            case Dataflow():
                return self.overlap(node).span
            case Branch():
                return alternatives([sequence([self.of(part) for part in one.parts]) for one in node.branches])
            case Invocation():
                return self.callee(node.callee).span(node.op, node.control)
            case ArrayCopy():
                source, result = map(base_of, node.op.operands)
                ends = Ends({}, {}, frozenset({source}), frozenset({result}))
                return Span(None if node.cycles is None else Fraction(node.cycles), ends=ends)
            case Spatial():
                return self._at_once(node)

    def _again(self, node: Repeat) -> Span:
        """A loop whose body starts again when its slowest stage is free."""
        body = self.of(node.body)
        latency = None
        if node.count is not None and body.latency is not None and body.interval is not None:
            latency = (node.count - 1) * body.interval + body.latency + node.control
        return replace(body, latency=latency, interval=None)

    def _at_once(self, node: Spatial) -> Span:
        """Processing elements: copies of the body that run at once, each behind the neighbour before it."""
        body, trips = self.of(node.body), node.trips.mean
        count = int(trips) if trips is not None else 1
        puts = {base: event for (base, _), event in body.ends.puts.items()}
        hops = [puts[base].first - got.first + 1 for (base, _), got in body.ends.gets.items() if base in puts]
        skew = max(hops, default=Fraction(0))  # positions that put before they get do not wait for a neighbour
        skew = max(skew, Fraction(0)) * (count - 1)
        units = Counter({operator: n * count for operator, n in body.units.items()})
        callees = Counter({name: n * count for name, n in body.callees.items()})
        ends = replace(body.ends, puts=uncounted(body.ends.puts), gets=uncounted(body.ends.gets))
        latency = None if body.latency is None or trips is None else body.latency + skew
        return Span(latency, units, callees, ends, body.register_bits * count)


def seen(spans: Spans, span: Span) -> Callee:
    """What callers see of a function."""
    tree = spans.tree
    straight = not tree.views and not span.callees
    interval = Fraction(1) if straight else span.interval if span.interval is not None else span.latency
    return Callee(span.latency, interval, span.ends, tuple(tree.entry.arguments), spans.is_even(tree.root))


def timelines(spans: Spans) -> Iterator[Timeline]:
    """When parts run: those of the function and of one iteration of each loop in it that consists of several."""
    tree = spans.tree
    owned: list[tuple[str, Node]] = [(tree.name, tree.root)]
    owned += [(tree.loop_name(n.view), n.body) for n in nodes(tree.root) if isinstance(n, Repeat | Spatial)]
    for name, node in owned:
        if isinstance(node, Sequence | Dataflow) and len(node.parts) > 1:
            if isinstance(node, Dataflow):
                found = spans.overlap(node)
                yield Timeline(name, True, found.parts, found.links)
            else:
                yield in_turn(name, [label(part) for part in node.parts], spans.groups(node))


def notes(spans: Spans) -> list[str]:
    """Remarks on loops and stages, in the order of the text."""
    found: list[str] = []

    def visit(node: Node) -> None:
        remarks = node.remarks if isinstance(node, Pipeline | Repeat | Spatial) else ()
        at_end = isinstance(node, Repeat) and node.view.op.name == "scf.while"
        found.extend(() if at_end else remarks)
        for part in parts_of(node):
            visit(part)
        if isinstance(node, Dataflow):
            found.extend(spans.overlap(node).notes)
        found.extend(remarks if at_end else ())

    visit(spans.tree.root)
    return [f"{spans.tree.name}: {note}" for note in found]
