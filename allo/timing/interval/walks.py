"""Closed walks through a graph of dependences that take longer than their iterations.

A walk that moves from a copy of an unrolled loop to another has to come back to it. That is a Lagrangian relaxation:
moving between copies gets a price, and the prices are changed until only walks are left that come back. With any
prices no walk is missed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from math import gcd

from ..problem.graph import Edge

_MOST_CUTS = 40  # changes of prices, after which a walk counts although it does not come back

type Price = Fraction | int


class ClosedWalks:
    """The closed walks through one strongly connected part; `loops` are those whose copies walks come back to."""

    def __init__(self, nodes: Sequence[int], edges: Sequence[Edge], cycle: int, loops: frozenset[int]) -> None:
        self.nodes = nodes
        self.edges = edges
        self.cycle = cycle  # ps
        self.loops = loops

    def longer_than(self, interval: int) -> list[Edge] | None:
        """A walk that takes longer than its iterations at this interval in cycles; None if there is none."""
        prices: dict[int, Price] = {}
        low: dict[int, tuple[Fraction, list[Edge]]] = {}
        high: dict[int, tuple[Fraction, list[Edge]]] = {}
        found: list[Edge] | None = None
        for _ in range(_MOST_CUTS):
            found = positive_cycle(self.nodes, self.edges, self._lengths(interval, prices))
            if found is None:
                return None
            moving = [n for n in sorted(self.loops) if _net(found, n)]
            if len(moving) != 1:
                return found
            loop, net = moving[0], _net(found, moving[0])
            excess = sum(edge.weight - interval * self.cycle * edge.distance for edge in found)
            limit = Fraction(-excess, net)
            if net > 0 and (loop not in high or limit < high[loop][0]):
                high[loop] = (limit, found)
            if net < 0 and (loop not in low or limit > low[loop][0]):
                low[loop] = (limit, found)
            if loop in low and loop in high:
                if low[loop][0] > high[loop][0]:
                    return _together(low[loop][1], high[loop][1], loop)
                prices[loop] = (low[loop][0] + high[loop][0]) / 2
            else:
                prices[loop] = limit
        return found

    def _lengths(self, interval: int, prices: Mapping[int, Price]) -> list[Price]:
        """How much longer each edge is than its iterations at this interval."""
        return [
            edge.weight
            - interval * self.cycle * edge.distance
            + sum(prices.get(n, 0) * (move or 0) for n, move in edge.moves)
            for edge in self.edges
        ]


def _net(walk: Sequence[Edge], loop: int) -> int:
    """By how many copies a walk has moved at its end."""
    return sum(move or 0 for edge in walk for n, move in edge.moves if n == loop)


def _together(down: list[Edge], up: list[Edge], loop: int) -> list[Edge]:
    """Two walks so often that they come back."""
    one, other = -_net(down, loop), _net(up, loop)
    common = gcd(one, other)
    return down * (other // common) + up * (one // common)


def positive_cycle(nodes: Sequence[int], edges: Sequence[Edge], lengths: Sequence[Price]) -> list[Edge] | None:
    """A cycle with a length above 0, by Bellman and Ford."""
    distance: dict[int, Price] = dict.fromkeys(nodes, 0)
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
    """Nodes that wait for one another, by Tarjan's algorithm without recursion."""
    following: dict[int, list[int]] = {}
    for source, sink in edges:
        following.setdefault(source, []).append(sink)
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
