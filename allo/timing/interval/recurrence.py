"""Lower bound on the initiation interval of a loop from its recurrences, and which one demands it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from math import gcd

from ...poly.meetings import narrowed
from ..problem.graph import Edge, Graph
from ..problem.operators import word_of
from ..problem.region import RegionNode
from .circulation import Circulation
from .expanded import least_interval
from .walks import ClosedWalks, components


@dataclass(frozen=True, slots=True)
class Recurrence:
    """A closed walk of edges and the interval that it demands."""

    interval: int
    edges: tuple[Edge, ...]
    times: tuple[int, ...] = ()  # how often it takes each edge, where it moves between copies


def recurrence_of(graph: Graph, requested: int) -> Recurrence | None:
    """The recurrence that demands the largest interval, if that is more than requested."""
    found = _existing(graph, requested, lambda: critical(graph))
    enough = max(requested, found.interval if found is not None else 1)
    found = _existing(graph, enough, lambda: between_copies(graph, enough)) or found
    return found if found is None or found.interval <= requested else _of_copies(graph, requested, found)


def _of_copies(graph: Graph, requested: int, found: Recurrence) -> Recurrence | None:
    """The recurrence itself, or one that demands less, if all that copies pass on can be looked at.

    Where nothing is assumed, each dependence is kept as it is: what is scheduled is built.
    """
    if _is_certain(graph, found) or not graph.region.assumes:
        return found
    exact = least_interval(graph, requested, found.interval)
    if exact is None or exact[0] == found.interval:
        return found
    interval, edges = exact
    _relax(graph, interval)
    return Recurrence(interval, edges, (1,) * len(edges)) if interval > requested else None


def _is_certain(graph: Graph, found: Recurrence) -> bool:
    """Whether it is one value that comes from the only write of its array, without copies and conditions."""
    nodes = graph.region.nodes
    carried = [edge for edge in found.edges if edge.distance]
    if graph.copies or len(carried) != 1 or any(edge.order for edge in carried):
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
    """Let edges that sum up copies demand no more than these do: what they carry comes so many iterations later."""
    while (found := critical(graph)) is not None and found.interval > interval:
        edge = max(found.edges, key=lambda edge: edge.distance)
        weight = sum(other.weight for other in found.edges)
        others = sum(other.distance for other in found.edges) - edge.distance
        enough = -(-weight // (interval * graph.cycle)) - others
        edge.distance = max(edge.distance + 1, enough)  # also where only walks through several copies take so long


def _existing(graph: Graph, enough: int, search: Callable[[], Recurrence | None]) -> Recurrence | None:
    """What a search finds, without edges between accesses that do not meet."""
    while True:
        found = search()
        if found is None or found.interval <= enough:
            return found
        doubtful = [edge for edge in found.edges if not edge.exact and edge.pair is not None]
        if not doubtful:
            return found
        for edge in {id(edge): edge for edge in doubtful}.values():
            decide(graph, edge)


def decide(graph: Graph, edge: Edge) -> None:
    """Give an edge its exact distance and moves, or take it away."""
    assert edge.pair is not None
    edge.exact = True
    found = narrowed(graph.region.space, edge.pair, edge.distance, edge.ranges)
    if found is not None:
        edge.distance, edge.ranges = found
        return
    graph.edges = [other for other in graph.edges if other is not edge]
    graph.copies = [other for other in graph.copies if other is not edge]


def critical(graph: Graph) -> Recurrence | None:
    """The recurrence that demands the largest interval; None if there is none."""
    found: Recurrence | None = None
    for component, inside in _cyclic(graph):
        part = ClosedWalks(sorted(component), inside, graph.cycle, _free_loops(graph, component, inside))
        found = _longest(part, found)
    return found


def between_copies(graph: Graph, enough: int) -> Recurrence | None:
    """The recurrence through copies of unrolled loops that demands the most, if that is more than enough."""
    found: Recurrence | None = None
    nodes = graph.region.nodes
    for component in components(len(nodes), [(edge.source, edge.sink) for edge in graph.copies]):
        inside = [e for e in graph.copies if e.source in component and e.sink in component]
        counts = {index: graph.region.count(nodes[index].around) for index in component}
        demand = Circulation(counts, inside, graph.cycle).demand(enough)
        if demand is not None:
            enough = demand.interval
            found = Recurrence(enough, demand.edges, demand.times)
    return found


def _longest(part: ClosedWalks, found: Recurrence | None) -> Recurrence | None:
    """The recurrence of a part that demands the most, if it demands more than the one found before."""
    interval = found.interval if found is not None else 0
    while (walk := part.longer_than(interval)) is not None:
        distance = sum(edge.distance for edge in walk)
        weight = sum(edge.weight for edge in walk)
        if distance == 0:
            break
        interval = max(interval + 1, -(-weight // (distance * part.cycle)))
        found = Recurrence(interval, tuple(walk))
    return found


def _free_loops(graph: Graph, component: set[int], inside: list[Edge]) -> frozenset[int]:
    """The unrolled loops whose copies walks have to return to: those in which each edge moves by a known number."""
    if _has_chain(graph, component):
        return frozenset()
    unknown = {n for edge in inside for n, move in edge.moves if move is None}
    return frozenset(n for edge in inside for n, _ in edge.moves) - unknown


def _has_chain(graph: Graph, component: set[int]) -> bool:
    return any(chain.store in component for chain in graph.chains.values())


def _cyclic(graph: Graph) -> list[tuple[set[int], list[Edge]]]:
    """Nodes that wait for one another, with their edges; without edges that move between copies and never back."""
    found: list[tuple[set[int], list[Edge]]] = []
    left = list(graph.edges)
    while True:
        dropped = False
        found = []
        for component in components(len(graph.region.nodes), [(edge.source, edge.sink) for edge in left]):
            inside = [e for e in left if e.source in component and e.sink in component]
            useless = {id(e) for e in inside if e.moves and not _returns(graph, e, inside, component)}
            if useless:
                left = [e for e in left if id(e) not in useless]
                dropped = True
            found.append((component, inside))
        if not dropped:
            return found


def _returns(graph: Graph, edge: Edge, others: list[Edge], component: set[int]) -> bool:
    """Whether for each move of an edge between copies there is something that moves the other way."""
    chained = _has_chain(graph, component)
    ways = [move for other in others if not (chained and other.order) for move in other.moves]
    ways += [(chain.loop, chain.step) for chain in graph.chains.values() if chain.store in component]
    return all(
        value is None or any(n == loop and (m is None or m * value < 0) for n, m in ways) for loop, value in edge.moves
    )


def words(graph: Graph, recurrence: Recurrence) -> str:
    """The recurrence in words: `recurrence through C: 1 read + 6 add + 1 write over distance 1`."""
    if not recurrence.edges:
        return "assumed: copies of unrolled loops run one after the other, since too many of them may share elements"
    nodes = graph.region.nodes
    edges = list(recurrence.edges)
    distance = sum(edge.distance for edge in edges)
    if recurrence.times:
        merged, distance = _copied(graph, recurrence)
    else:
        start = next((n for n, edge in enumerate(edges) if edge.distance), 0)
        edges = [*edges[start + 1 :], *edges[: start + 1]]  # begin with what reads
        merged = _merged([part for edge in edges for part in _parts(graph, nodes[edge.source], edge)])
    memories = (nodes[edge.source].memory for edge in edges if edge.distance)
    through = ", ".join(dict.fromkeys(memory.name for memory in memories if memory is not None)) or "a value"
    until = " until it is overwritten," if any(edge.order and edge.distance for edge in edges) else ""
    return f"recurrence through {through}: {' + '.join(merged) or 'logic'}{until} over distance {distance}"


def _parts(graph: Graph, node: RegionNode, edge: Edge) -> list[str]:
    """What one node of the cycle takes, as `6 add`."""
    if node.kind == "write":
        return [f"{node.latency} write"] if edge.weight and node.latency else []
    if node.kind == "read" and not edge.order:
        parts = [f"{node.latency} read"] if node.latency else []
        if node.routing is not None and node.delay:
            parts.append(node.routing.name)
        chain = graph.chains.get(node.index)
        if chain is not None and chain.links > 1 and not chain.tree:
            parts.append(f"*{chain.links}")
        return parts
    return [f"{node.latency} {word_of(node.op)}"] if node.latency and not edge.order else []


def _copied(graph: Graph, recurrence: Recurrence) -> tuple[list[str], int]:
    """What walks between copies take together, reads first and writes last, and their distance."""
    nodes = graph.region.nodes
    counts = Counter[tuple[int, str]]()
    for edge, times in zip(recurrence.edges, recurrence.times, strict=True):
        node, sink = nodes[edge.source], nodes[edge.sink]
        stored = node.kind == "write"
        if node.latency and (edge.weight > 0 if stored else node.kind != "read"):
            counts[(2, f"{node.latency} write") if stored else (1, f"{node.latency} {word_of(node.op)}")] += times
        if sink.kind == "read" and sink.latency and (edge.weight > 0 or not stored):
            counts[0, f"{sink.latency} read"] += times
    distance = sum(edge.distance * times for edge, times in zip(recurrence.edges, recurrence.times, strict=True))
    unit = gcd(distance, *counts.values())
    parts = sorted(counts.items(), key=lambda item: item[0][0])
    return [part if n == unit else f"{n // unit} x {part}" for (_, part), n in parts], distance // unit


def _merged(parts: list[str]) -> list[str]:
    """Equal neighbours together (`3 x 6 add`); what stands between `*n` and a write is repeated n times."""
    merged: list[tuple[str, int]] = []
    repeat = 1
    for part in parts:
        if part.startswith("*"):
            repeat *= int(part[1:])
            continue
        count = 1 if part.endswith((" read", " write")) else repeat
        if merged and merged[-1][0] == part:
            merged[-1] = (part, merged[-1][1] + count)
        else:
            merged.append((part, count))
        if part.endswith(" write"):
            repeat = 1
    return [part if count == 1 else f"{count} x {part}" for part, count in merged]
