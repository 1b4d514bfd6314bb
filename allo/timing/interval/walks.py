"""Closed walks through a graph, and the parts of it whose nodes wait for one another."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from ..problem.graph import Edge


def positive_cycle(nodes: Sequence[int], edges: Sequence[Edge], lengths: Sequence[int]) -> list[Edge] | None:
    """A cycle with a length above 0, by Bellman and Ford."""
    distance: dict[int, int] = dict.fromkeys(nodes, 0)
    before: dict[int, Edge] = {}
    reached = True
    while reached:
        reached = False
        for edge, length in zip(edges, lengths, strict=True):
            end = distance[edge.source] + length
            if end > distance[edge.sink]:
                distance[edge.sink] = end
                before[edge.sink] = edge
                reached = True
        if (found := _closed(nodes, before)) is not None:
            return found
    return None


def _closed(nodes: Sequence[int], before: Mapping[int, Edge]) -> list[Edge] | None:
    """A cycle of edges each of which was the last to reach its end: such a cycle is longer than 0."""
    seen: dict[int, int] = {}
    for start in nodes:
        at = start
        while at in before and at not in seen:
            seen[at] = start
            at = before[at].source
        if seen.get(at) == start and at in before:
            found = [before[at]]
            while found[-1].source != at:
                found.append(before[found[-1].source])
            return found[::-1]
    return None


def components(count: int, edges: Iterable[tuple[int, int]]) -> list[set[int]]:
    """Nodes that wait for one another: those that reach each other (S. R. Kosaraju)."""
    following: list[list[int]] = [[] for _ in range(count)]
    before: list[list[int]] = [[] for _ in range(count)]
    alone = set(range(count))  # without an edge to themselves
    for source, sink in edges:
        following[source].append(sink)
        before[sink].append(source)
        alone -= {sink} if source == sink else set()
    order = _reached(range(count), following, set())
    seen: set[int] = set()
    found = [_reached([node], before, seen) for node in reversed(order)]
    return [set(members) for members in reversed(found) if len(members) > 1 or (members and members[0] not in alone)]


def _reached(starts: Iterable[int], following: Sequence[Sequence[int]], seen: set[int]) -> list[int]:
    """What is reached and not `seen` yet, each behind all that is reached from it."""
    found: list[int] = []
    for start in starts:
        stack = [start]
        while stack:
            node = stack.pop()
            if node < 0:
                found.append(~node)
            elif node not in seen:
                seen.add(node)
                stack += [~node, *following[node]]
    return found
