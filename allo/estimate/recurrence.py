"""Decides the least initiation interval that the recurrences of a loop allow, and which one demands it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .dependences import Edge, Graph
from .operators import word_of
from .region import Node


@dataclass(frozen=True, slots=True)
class Recurrence:
    """A cycle of edges and the interval that it demands."""

    interval: int
    edges: tuple[Edge, ...]


def critical(graph: Graph) -> Recurrence | None:
    """The recurrence that demands the largest interval; None if there is none."""
    found: Recurrence | None = None
    for component, inside in _cyclic(graph):
        interval = found.interval if found is not None else 0
        while (cycle := _positive_cycle(sorted(component), inside, interval * graph.cycle)) is not None:
            distance = sum(edge.distance for edge in cycle)
            weight = sum(edge.weight for edge in cycle)
            if distance == 0:
                break
            interval = max(interval + 1, -(-weight // (distance * graph.cycle)))
            found = Recurrence(interval, tuple(cycle))
    return found


def _cyclic(graph: Graph) -> list[tuple[set[int], list[Edge]]]:
    """Nodes that wait for one another, with their edges; without edges that move between copies and never back."""
    found: list[tuple[set[int], list[Edge]]] = []
    left = list(graph.edges)
    while True:
        dropped = False
        found = []
        for component in _components(len(graph.region.nodes), left):
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
    ways = [move for other in others for move in other.moves]
    ways += [(chain.loop, chain.step) for chain in graph.chains.values() if chain.store in component]
    return all(
        value is None or any(n == loop and (m is None or m * value < 0) for n, m in ways)
        for loop, value in edge.moves
    )


def _components(count: int, edges: list[Edge]) -> list[set[int]]:
    """Nodes that wait for one another, by Tarjan's algorithm without recursion."""
    following: dict[int, list[int]] = {}
    for edge in edges:
        following.setdefault(edge.source, []).append(edge.sink)
    index: dict[int, int] = {}
    low: dict[int, int] = {}
    stack: list[int] = []
    on_stack: set[int] = set()
    found: list[set[int]] = []
    for root in range(count):
        if root in index:
            continue
        work = [(root, iter(following.get(root, ())))]
        index[root] = low[root] = len(index)
        stack.append(root)
        on_stack.add(root)
        while work:
            node, targets = work[-1]
            advanced = False
            for target in targets:
                if target not in index:
                    index[target] = low[target] = len(index)
                    stack.append(target)
                    on_stack.add(target)
                    work.append((target, iter(following.get(target, ()))))
                    advanced = True
                    break
                if target in on_stack:
                    low[node] = min(low[node], index[target])
            if advanced:
                continue
            work.pop()
            if work:
                low[work[-1][0]] = min(low[work[-1][0]], low[node])
            if low[node] == index[node]:
                component = set()
                while True:
                    member = stack.pop()
                    on_stack.discard(member)
                    component.add(member)
                    if member == node:
                        break
                if len(component) > 1 or node in following.get(node, ()):
                    found.append(component)
    return found


def _positive_cycle(nodes: Sequence[int], edges: Sequence[Edge], interval: int) -> list[Edge] | None:
    """A cycle that is longer than its iterations at this interval (in ps), by Bellman and Ford."""
    distance = dict.fromkeys(nodes, 0)
    before: dict[int, Edge] = {}
    last = None
    for _ in range(len(nodes) + 1):
        last = None
        for edge in edges:
            length = distance[edge.source] + edge.weight - interval * edge.distance
            if length > distance[edge.sink]:
                distance[edge.sink] = length
                before[edge.sink] = edge
                last = edge.sink
        if last is None:
            return None
    assert last is not None
    for _ in nodes:
        last = before[last].source
    cycle: list[Edge] = []
    at = last
    while True:
        cycle.append(before[at])
        at = before[at].source
        if at == last:
            return cycle[::-1]


def words(graph: Graph, recurrence: Recurrence) -> str:
    """The recurrence in words: `recurrence through C: 1 read + 6 add + 1 write over distance 1`."""
    nodes = graph.region.nodes
    edges = list(recurrence.edges)
    start = next((n for n, edge in enumerate(edges) if edge.distance), 0)
    edges = [*edges[start + 1 :], *edges[: start + 1]]  # begin with what reads
    parts: list[str] = []
    names: list[str] = []
    distance = sum(edge.distance for edge in edges)
    for edge in edges:
        node = nodes[edge.source]
        if node.memory is not None and edge.distance:
            names.append(node.memory.name)
        parts += _parts(graph, node, edge)
    merged = _merged(parts)
    through = ", ".join(dict.fromkeys(names)) or "a value"
    return f"recurrence through {through}: {' + '.join(merged) or 'logic'} over distance {distance}"


def _parts(graph: Graph, node: Node, edge: Edge) -> list[str]:
    """What one node of the cycle takes, as `6 add`."""
    if node.kind == "write":
        return [f"{node.latency} write"] if edge.distance and node.latency else []
    if node.kind == "read":
        parts = [f"{node.latency} read"] if node.latency else []
        chain = graph.chains.get(node.index)
        if chain is not None and chain.links > 1 and not chain.tree:
            parts.append(f"*{chain.links}")
        return parts
    return [f"{node.latency} {word_of(node.op)}"] if node.latency else []


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
    return [part if count == 1 else f"{count} x {part}" for part, count in merged]
