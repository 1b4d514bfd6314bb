"""Decides how values move between the copies of unrolled loops where several updates share an array.

A chain (see `dependences`) is one update whose copies wait for one another. With several updates a value also passes
from a copy of one to a later copy of another, and the walk that demands the most may use both. Here every copy is a
node: of few nodes, and only of those that wait for one another.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import product

from .aliases import Meetings, fixed, least_distance, meetings
from .graph import Edge, Graph
from .region import Node, Region
from .walks import components

_MOST_NODES = 256  # copies of all nodes that wait for one another; above, only chains are known

type Copy = tuple[int, ...]


class Copies:
    """The copies of nodes that wait for one another, and the values that pass between them."""

    def __init__(self, graph: Graph, nodes: Sequence[Node], groups: Sequence[Sequence[Node]]) -> None:
        self.region = graph.region
        self.cycle = graph.cycle
        self.tails = graph.tails
        self.names = [(node, copy) for node in nodes for copy in _copies(self.region, node)]
        self.numbers = {(node.index, copy): number for number, (node, copy) in enumerate(self.names)}
        self.edges: list[Edge] = []
        self.arrived: set[int] = set()
        for group in groups:
            self._array([node for node in group if node in nodes])
        self._values()

    def original(self, edge: Edge) -> Edge:
        """The edge between the nodes of which these are copies."""
        return replace(edge, source=self.names[edge.source][0].index, sink=self.names[edge.sink][0].index)

    def _array(self, group: Sequence[Node]) -> None:
        """Values that pass through one array: each read gets the last one written, of this iteration or an earlier."""
        stores = [node for node in group if node.kind == "write"]
        lost: set[int] = set()
        for store in stores:
            for _, found in self._before(store, stores):
                lost.update(found)
        for load in group:
            if load.kind != "read":
                continue
            for copy, found in self._before(load, stores):
                here = self.numbers[load.index, copy]
                if found:
                    self.arrived.add(here)
                    self.edges.append(Edge(found[-1], here, 0))
                else:
                    self._earlier(load, copy, stores, lost)

    def _before(self, node: Node, stores: Sequence[Node]) -> list[tuple[Copy, list[int]]]:
        """For each copy of an access the copies of stores before it that write its element, in their order."""
        ways = [(store, _met(self.region, store, node)) for store in stores]
        result = []
        for copy in _copies(self.region, node):
            end = _order(node, copy)
            found = [
                (_order(store, there), self.numbers[store.index, there])
                for store, met in ways
                for there in _copies(self.region, store)
                if _order(store, there) < end
                and any(all(t in (0, None) for t in w.time) and _apart(there, copy, w.copies) for w in met.ways)
            ]
            result.append((copy, [number for _, number in sorted(found)]))
        return result

    def _earlier(self, load: Node, copy: Copy, stores: Sequence[Node], lost: set[int]) -> None:
        """The edges from copies of stores in earlier iterations; of one time loop only the nearest."""
        found: list[tuple[int, tuple[tuple[int, int], ...], Node, int]] = []
        for store in stores:
            met = _met(self.region, store, load)
            for there in _copies(self.region, store):
                number = self.numbers[store.index, there]
                if number in lost:
                    continue
                for way in met.ways:
                    distance = least_distance(self.region, way) if _apart(there, copy, way.copies) else None
                    if distance is not None:
                        found.append((distance, _order(store, there), store, number))
        if sum(loop.trip != 1 for loop in self.region.time) == 1:
            nearest = min((distance for distance, *_ in found), default=0)
            found = [item for item in found if item[0] == nearest]
        for distance, _, store, number in found:
            weight = store.latency * self.cycle - self.tails[store.index] % self.cycle
            self.edges.append(Edge(number, self.numbers[load.index, copy], weight, distance))

    def _values(self) -> None:
        """Edges from what computes a value to what uses it; what was written in this iteration is not read again."""
        for number, (node, copy) in enumerate(self.names):
            for source in self.region.inputs[node.index]:
                made = self.region.nodes[source]
                there = self.numbers.get((source, copy[: len(made.around)]))
                if there is not None:
                    latency = 0 if there in self.arrived else made.latency
                    self.edges.append(Edge(there, number, latency * self.cycle + made.delay))


def copies_of_updates(graph: Graph) -> list[Copies]:
    """The copies of each part of a region in which several updates of an array wait for one another."""
    region = graph.region
    if not region.time or any(chain.tree for chain in graph.chains.values()):
        return []
    groups: dict[str, list[Node]] = {}
    for node in region.nodes:
        if node.memory is not None:
            groups.setdefault(node.label, []).append(node)
    called = {access.buffer.label for node in region.nodes if node.kind == "call" for access in node.touched}
    uniform = [nodes for label, nodes in groups.items() if label not in called and _uniform(region, nodes)]
    pairs = [(source, index) for index, inputs in enumerate(region.inputs) for source in inputs]
    for nodes in uniform:
        pairs += [(a.index, b.index) for a in nodes for b in nodes if a.kind == "write" and b.kind == "read"]
    found = []
    for component in components(len(region.nodes), pairs):
        nodes = [region.nodes[index] for index in sorted(component)]
        several = any(sum(n.kind == "write" and n in nodes for n in group) > 1 for group in uniform)
        count = sum(region.count(node.around) for node in nodes)
        if several and len(nodes) < count <= _MOST_NODES:
            found.append(Copies(graph, nodes, uniform))
    return found


def _uniform(region: Region, nodes: Sequence[Node]) -> bool:
    """Whether accesses of an array always have the same distances from one another, which are known."""

    def shape(node: Node) -> tuple[object, ...]:
        moved = [None if form is None else (form.time, form.copies, form.other) for form in node.forms]
        return node.around, node.guards, moved

    first = nodes[0]
    known = bool(first.forms) and None not in first.forms and not first.op.name.startswith("allo.stream")
    if not known or first.guards or any(shape(node) != shape(first) for node in nodes):
        return False
    return all(_met(region, store, node).exact for store in nodes if store.kind == "write" for node in nodes)


def _met(region: Region, store: Node, node: Node) -> Meetings:
    return meetings(region, store, node, fixed(region, store))


def _copies(region: Region, node: Node) -> list[Copy]:
    return list(product(*(range(region.copy_loops[number].trip) for number in node.around)))


def _order(node: Node, copy: Copy) -> tuple[tuple[int, int], ...]:
    """When a copy runs among the others of its iteration."""
    return tuple(zip(node.position, (*copy, *[0] * (len(node.position) - len(copy))), strict=True))


def _apart(first: Copy, second: Copy, difference: Sequence[int | None]) -> bool:
    return all(d is None or b - a == d for a, b, d in zip(first, second, difference, strict=True))
