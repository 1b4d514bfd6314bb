"""Decides the interval and the depth of one pipelined loop, and what keeps them from being less."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from fractions import Fraction

from mlir import ir

from ..poly import Access
from ..poly.linear import PRIME, Linear
from ..poly.pairs import pair_of
from ..poly.systems import feasible, least
from ..poly.updates import updates_of
from ..target import Operator
from .dependences import graph_of
from .graph import Edge, Graph
from .modulo import Timing, schedule
from .operators import bits_of
from .ports import Accesses, Pressure, accesses_of
from .recurrence import Recurrence, critical, words
from .region import Node, Region
from .result import Reason
from .span import Ends, Event, Span, Stream, stream_key, together


@dataclass(frozen=True, slots=True)
class Scheduled:
    """A region with its schedule; `interval` is None if iterations do not overlap."""

    graph: Graph
    accesses: tuple[Accesses, ...]
    timing: Timing
    reason: Reason
    least: int  # the interval that recurrences and ports allow
    recurrence: Recurrence | None
    pressure: Pressure | None

    @property
    def units(self) -> Counter[Operator]:
        """How many units of each operator the region needs."""
        return _units(self.graph.region, self.timing)


def scheduled(region: Region, budget: int, requested: int | None) -> Scheduled:
    """The schedule of a region at the requested interval or the least one above; None: not pipelined."""
    accesses = [node.access for node in region.nodes if node.access is not None]
    exact = {store: update for store, update in updates_of(accesses).items() if update.exact}
    exchangeable = frozenset(node.index for node in region.nodes if node.kind == "read" and node.op in exact)
    graph = graph_of(region, budget, exchangeable)
    arrays = _accesses(region)
    recurrence = _certain(graph, requested) if requested is not None else None
    pressures = [p for array in arrays if (p := array.pressure()) is not None]
    pressure = max(pressures, key=lambda p: p.interval, default=None)
    if requested is None:
        timing = schedule(graph, arrays, None)
        return Scheduled(graph, tuple(arrays), timing, Reason("not pipelined", "not pipelined"), 1, None, pressure)
    calls = [node for node in region.nodes if node.kind == "call"]
    call = max(calls, key=lambda node: node.interval, default=None)
    demands = [(requested, "requested"), (recurrence.interval if recurrence else 1, "recurrence")]
    demands += [(pressure.interval if pressure else 1, "ports"), (call.interval if call else 1, "call")]
    interval = max(value for value, _ in demands)
    kind = next(kind for value, kind in demands if value == interval)
    timing = schedule(graph, arrays, interval)
    if timing.interval > interval and (doubtful := [e for e in graph.edges if not e.exact and e.pair is not None]):
        for edge in doubtful:
            _decide(graph, edge)
        timing = schedule(graph, arrays, interval)
    reason = _reason(kind, graph, requested, recurrence, pressure, call)
    if timing.interval > interval:
        reason = Reason("schedule", f"no schedule with II {interval} found: {reason}")
    smallest = max(value for value, what in demands if what != "requested")
    return Scheduled(graph, tuple(arrays), timing, reason, smallest, recurrence, pressure)


def _reason(
    kind: str,
    graph: Graph,
    requested: int,
    recurrence: Recurrence | None,
    pressure: Pressure | None,
    call: Node | None,
) -> Reason:
    if kind == "recurrence" and recurrence is not None:
        return Reason(kind, words(graph, recurrence))
    if kind == "ports" and pressure is not None:
        return Reason(kind, str(pressure))
    if kind == "call" and call is not None:
        return Reason(kind, f"{call.operator.name} takes new data every {call.interval} cycles")
    return Reason("requested", f"as requested: II {requested}")


def _accesses(region: Region) -> list[Accesses]:
    groups: dict[str, list[Node]] = {}
    for node in region.nodes:
        if node.memory is not None:
            groups.setdefault(node.label, []).append(node)
    return [found for nodes in groups.values() if (found := accesses_of(region, nodes)) is not None]


# -- recurrences that exist ------------------------------------------------------------------------------


def _certain(graph: Graph, requested: int) -> Recurrence | None:
    """The critical recurrence; where arithmetic on subscripts is unsure, the polyhedral model has the last word."""
    while True:
        found = critical(graph)
        if found is None or found.interval <= requested:
            return found
        doubtful = [edge for edge in found.edges if edge.distance and not edge.exact and edge.pair is not None]
        if not doubtful:
            return found
        for edge in {id(edge): edge for edge in doubtful}.values():
            _decide(graph, edge)


def _decide(graph: Graph, edge: Edge) -> None:
    """Give an edge its exact distance, or take it away."""
    assert edge.pair is not None
    edge.exact = True
    if not (edge.pair[0].exact_elements and edge.pair[1].exact_elements):
        return
    distance = _exact_distance(graph.region, *edge.pair)
    if distance is None:
        graph.edges.remove(edge)
    else:
        edge.distance = max(edge.distance, distance)


def _exact_distance(region: Region, store: Access, load: Access) -> int | None:
    """The least number of iterations from a store to a load of the same element, by integer programs."""
    pair = pair_of(store, load)
    if pair is None:
        return None
    inside = {loop.variable for loop in region.time}
    copies = {loop.variable for loop in region.copy_loops}
    outer = [loop.variable for loop in pair.common if loop.variable not in inside | copies]
    best: int | None = None
    for level, loop in enumerate(region.time):
        signs = {**dict.fromkeys(outer, 0), loop.variable: 1}
        signs |= {before.variable: 0 for before in region.time[:level]}
        if not pair.allows(signs):
            continue
        for rows in pair.systems(signs):
            if not feasible(rows):
                continue
            terms = [
                (v, c * inner.stride)
                for inner in region.time
                if inner.step == 1 and inner.factor == 1
                for v, c in ((inner.variable, -1), (inner.variable + PRIME, 1))
            ]
            value = least(Linear(0, tuple(sorted(terms))), rows)
            distance = 1 if value is None else max(1, value)
            best = distance if best is None else min(best, distance)
    return best


# -- units ---------------------------------------------------------------------------------------------


def _units(region: Region, timing: Timing) -> Counter[Operator]:
    """Operators with all copies, shared between the cycles of an interval or, if not pipelined, of all iterations."""
    found: Counter[Operator] = Counter()
    starts: dict[tuple[Operator, int], int] = {}
    totals: Counter[Operator] = Counter()
    for node in region.nodes:
        if node.kind != "compute" or node.operator.free:
            continue
        count = region.count(node.copies)
        totals[node.operator] += count
        key = (node.operator, timing.starts[node.index])
        starts[key] = starts.get(key, 0) + count
    for operator, total in totals.items():
        if operator.dsp == 0 and operator.latency == 0:
            found[operator] = total  # selecting the operands would cost as much
        elif timing.interval > timing.depth:
            found[operator] = max(count for (o, _), count in starts.items() if o == operator)
        else:
            found[operator] = -(-total // timing.interval)
    return found


def register_bits(done: Scheduled) -> int:
    """The bits that wait in pipeline registers from their producer to their last consumer."""
    region, timing = done.graph.region, done.timing
    last: dict[int, int] = {}
    for index, inputs in enumerate(region.inputs):
        for source in inputs:
            last[source] = max(last.get(source, 0), timing.starts[index])
    total = 0
    for source, end in last.items():
        node = region.nodes[source]
        if len(node.op.results):
            lifetime = max(0, end - timing.starts[source] - node.latency)
            registers = -(-lifetime // timing.interval)  # each is overwritten after an interval
            total += registers * bits_of(node.op.results[0].type) * region.count(node.copies)
    return total


def region_span(done: Scheduled, latency: Fraction | None, around: Fraction, runs: Fraction | None) -> Span:
    """The part that a region is, run so often, with the times of its streams and the arrays that it uses."""
    puts: dict[Stream, Event] = {}
    gets: dict[Stream, Event] = {}
    reads: set[ir.Value] = set()
    writes: set[ir.Value] = set()
    region, timing = done.graph.region, done.timing
    enter = Fraction(int(around) // 2)
    for node in region.nodes:
        if node.memory is None:
            continue
        if not node.op.name.startswith("allo.stream"):
            array = node.op.operands[0 if node.kind == "read" else 1]
            (reads if node.kind == "read" else writes).add(array)
            continue
        stream = stream_key(node.op.operands[0])
        events = gets if node.kind == "read" else puts
        first = enter + timing.starts[node.index]
        tail = timing.depth - timing.ends[node.index] + around - enter
        count = None if node.guards or runs is None else runs * region.count(node.around)
        overlaps = timing.interval < timing.depth
        event = Event(first, tail, count, Fraction(timing.starts[node.index] if overlaps else 0))
        events[stream] = together(events[stream], event) if stream in events else event
    calls = [node for node in region.nodes if node.op.name == "func.call"]
    callees = Counter(ir.FlatSymbolRefAttr(node.op.attributes["callee"]).value for node in calls)
    ends = Ends(puts, gets, frozenset(reads), frozenset(writes))
    return Span(latency, done.units, callees, ends, register_bits(done))
