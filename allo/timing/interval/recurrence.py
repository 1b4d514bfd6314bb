"""Lower bound on the initiation interval of a loop from its recurrences, and which one demands it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from math import gcd

from ...poly.meetings import narrowed
from ..problem.graph import Edge, Graph
from ..problem.operators import word_of
from .circulation import Circulation
from .expanded import least_interval
from .walks import components


@dataclass(frozen=True, slots=True)
class Recurrence:
    """Closed walks of edges, each taken so many times, and the interval that they demand; none: it is assumed."""

    interval: int
    edges: tuple[Edge, ...]
    times: tuple[int, ...]

    @property
    def distance(self) -> int:
        return sum(edge.distance * times for edge, times in zip(self.edges, self.times, strict=True))


def recurrence_of(graph: Graph, requested: int) -> Recurrence | None:
    """The recurrence that demands the largest interval.

    If that is more than requested, it is one that demands less, or None, where all that copies pass on can be looked
    at. Where nothing is assumed, each dependence is kept as it is: what is scheduled is built.
    """
    found = _existing(graph, requested)
    if found is None or found.interval <= requested or _is_certain(graph, found) or not graph.region.assumes:
        return found
    exact = least_interval(graph, requested, found.interval)
    if exact is None or exact[0] == found.interval:
        return found
    interval, edges = exact
    if not graph.region.is_unrolled:
        _relax(graph, interval)
    return Recurrence(interval, edges, (1,) * len(edges)) if interval > requested else None


def _is_certain(graph: Graph, found: Recurrence) -> bool:
    """Whether it is one value that comes from the only write of its array, without copies and conditions."""
    nodes = graph.region.nodes
    carried = [edge for edge in found.edges if edge.distance]
    if graph.region.is_unrolled or len(carried) != 1 or any(edge.order for edge in carried):
        return False
    edge = carried[0]
    stores = [node for node in nodes if node.kind == "write" and node.label == nodes[edge.source].label]
    passing = [nodes[other.source] for other in found.edges if other is not edge]
    return (
        edge.exact
        and len(stores) == 1
        and all(node.kind != "write" for node in passing)
        and not any(nodes[n].guards for n in (edge.source, edge.sink))
        and (edge.pair is None or all(access.exact for access in edge.pair))
    )


def _relax(graph: Graph, interval: int) -> None:
    """Let edges demand no more than an interval: what they carry comes so many iterations later."""
    while (found := critical(graph, interval)) is not None:
        edge = max(found.edges, key=lambda edge: edge.distance)
        weight = sum(other.weight for other in found.edges)
        others = sum(other.distance for other in found.edges) - edge.distance
        enough = -(-weight // (interval * graph.cycle)) - others
        edge.distance = max(edge.distance + 1, enough)


def _existing(graph: Graph, enough: int) -> Recurrence | None:
    """The recurrence that demands the most; without edges between accesses that do not meet, if that is not enough."""
    while (found := critical(graph, 1)) is not None:
        doubtful = {id(edge): edge for edge in found.edges if not edge.exact and edge.pair is not None}
        if not doubtful or found.interval <= enough:
            return found
        for edge in doubtful.values():
            decide(graph, edge)
    return None


def decide(graph: Graph, edge: Edge) -> None:
    """Give an edge its exact distance and moves, or take it away."""
    assert edge.pair is not None
    edge.exact = True
    found = narrowed(graph.region.space, edge.pair, edge.distance, edge.ranges)
    if found is not None:
        edge.distance, edge.ranges = found
    else:
        graph.edges = [other for other in graph.edges if other is not edge]


def critical(graph: Graph, enough: int) -> Recurrence | None:
    """The recurrence that demands the most, if that is more than enough."""
    found: Recurrence | None = None
    nodes = graph.region.nodes
    parts = components(len(nodes), [(edge.source, edge.sink) for edge in graph.edges])
    part_of = {index: number for number, component in enumerate(parts) for index in component}
    edges: list[list[Edge]] = [[] for _ in parts]
    for edge in graph.edges:
        if part_of.get(edge.source, -1) == part_of.get(edge.sink):
            edges[part_of[edge.source]].append(edge)
    for component, inside in zip(parts, edges, strict=True):
        counts = {index: graph.region.count(nodes[index].around) for index in component}
        demand = Circulation(counts, inside, graph.cycle).demand(enough)
        if demand is not None:
            enough = demand.interval
            found = Recurrence(enough, demand.edges, demand.times)
    return found


def words(graph: Graph, recurrence: Recurrence) -> str:
    """The recurrence in words: `recurrence through C: 1 read + 6 add + 1 write over distance 1`."""
    if not recurrence.edges:
        return "assumed: copies of unrolled loops run one after the other, since too many of them may share elements"
    nodes = graph.region.nodes
    counts = Counter[tuple[int, str]]()
    for edge, times in zip(recurrence.edges, recurrence.times, strict=True):
        node, sink = nodes[edge.source], nodes[edge.sink]
        stored = node.kind == "write"
        if node.latency and (edge.weight > 0 if stored else node.kind != "read"):
            counts[(3, f"{node.latency} write") if stored else (2, f"{node.latency} {word_of(node.op)}")] += times
        if edge.order and node.kind == "read" and node.latency:  # it begins before the write, and may end behind it
            counts[0, f"{node.latency} read"] -= times
        if sink.kind == "read" and (edge.weight > 0 or not stored):
            if sink.latency:
                counts[0, f"{sink.latency} read"] += times
            if sink.routing is not None and sink.delay:
                counts[1, sink.routing.name] += times
    unit = gcd(recurrence.distance, *counts.values())
    parts = sorted(counts.items(), key=lambda item: item[0][0])
    told = " + ".join(part if n == unit else f"{n // unit} x {part}" for (_, part), n in parts if n > 0)
    memories = (nodes[edge.source].memory for edge in recurrence.edges if edge.distance)
    through = ", ".join(dict.fromkeys(memory.name for memory in memories if memory is not None)) or "a value"
    until = " until it is overwritten," if any(edge.order and edge.distance for edge in recurrence.edges) else ""
    return f"recurrence through {through}: {told or 'logic'}{until} over distance {recurrence.distance // unit}"
