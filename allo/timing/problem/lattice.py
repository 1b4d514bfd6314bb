"""Edges of a region, by differences between copies instead of copies.

A node stands for all of its copies. An edge moves by a range of copies in each unrolled loop, and a walk that demands
an interval comes back to the copy in which it began. All that copies pass on to others is here, and walks may leave
the loops at their ends, so that no interval is too low, and the cost does not grow with the number of copies.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from ...poly.covers import alike, is_overwritten, lasting_copies
from ...poly.meetings import Move, least_distance, meetings, reversed_meeting
from ...poly.space import Meeting, Meetings, common
from .graph import Edge
from .region import LoopBody, RegionNode
from .stream_order import exclusive


@dataclass(frozen=True, slots=True)
class _Pair:
    """Two accesses of an array, of which the second may run later."""

    first: RegionNode
    second: RegionNode
    met: Meetings


class Lattice:
    """The edges between copies.

    `covers` are the stores that surely write what reads read, `tails` the ps of logic between nodes and the last
    register before them, `exchangeable` the accesses of updates with the loops whose copies may be exchanged.
    """

    def __init__(
        self,
        region: LoopBody,
        cycle: int,
        covers: Mapping[int, RegionNode],
        tails: Sequence[int],
        exchangeable: Mapping[int, frozenset[int]],
    ) -> None:
        self.region, self.cycle, self.covers, self.tails = region, cycle, covers, tails
        self.exchangeable = exchangeable
        self.summed_up = region.assumes and region.is_unrolled  # what copies pass on stays where they are
        self.edges: list[Edge] = []
        self.ends: dict[int, dict[int, int]] = {}  # by node and loop, the copy that other iterations have to do with

    def array(self, nodes: Sequence[RegionNode]) -> None:
        """Values that pass through an array, and what is not overwritten too early."""
        space, stores = self.region.space, [node for node in nodes if node.kind == "write"]
        near = self.region.near
        others = {node.index: [one for one in near[node.index] if one.kind == "write"] for node in nodes}
        assumed = stores if self.region.assumes else []  # else all are built
        dead = {store.index for store in assumed if is_overwritten(space, others[store.index], store)}
        self.ends |= {node.index: lasting_copies(space, others[node.index], node) for node in nodes}
        for store in stores:
            for node in near[store.index]:
                pair = _Pair(store, node, meetings(space, store, node))
                if node.kind == "read":
                    self._flow(pair, store.index in dead)
                    if not node.forwarded:
                        met = _reversed(pair.met)
                        self._order(_Pair(node, store, met), -node.latency * self.cycle, store.index in dead)
                else:
                    weight = 0 if in_registers(store) else self.cycle
                    self._order(pair, weight, bool({store.index, node.index} & dead))

    def _flow(self, pair: _Pair, dead: bool) -> None:
        """A value that is written and read, in the same iteration or in a later one."""
        store, load, cycle = pair.first, pair.second, self.cycle
        cover = self.covers.get(load.index)
        late = store.latency * cycle - self.tails[store.index] % cycle + load.latency * cycle
        linked = self.summed_up and alike(store, load) and store.around == load.around
        tree = self.exchangeable.get(store.index, frozenset()) & self.exchangeable.get(load.index, frozenset())
        for way in pair.met.ways:
            if cover is None or store.position >= cover.position:
                for moves in self._later_copies(pair, way):
                    changed = {n for n, low, high in moves if low > 0 or high < 0}
                    in_tree = changed and changed <= tree and alike(store, load)
                    if not in_tree and (cover is None or not changed & set(cover.around)):
                        direct = linked or in_registers(store) or (store is cover and load.forwarded)
                        self._add(pair, 0 if direct else late, 0, moves)
            distance = least_distance(self.region.space, way)
            if cover is None and not dead and distance is not None:
                self._add(pair, late, distance, self._moves(pair, way))

    def _order(self, pair: _Pair, weight: int, dead: bool) -> None:
        """An element that is not overwritten too early; of writes of it by copies in an iteration one takes place."""
        one = dead or (pair.first.kind == "write" and alike(pair.first, pair.second))
        apart = exclusive(pair.first, pair.second)
        for way in pair.met.ways:
            for moves in self._later_copies(pair, way):
                changed = any(move[1:] != (0, 0) for move in moves)
                if not (one and (changed or self.summed_up)):
                    self._add(pair, 0 if apart and not changed else weight, 0, moves, order=True)
            distance = least_distance(self.region.space, way)
            if not dead and distance is not None:
                self._add(pair, weight, distance, self._moves(pair, way), order=True)

    def _add(self, pair: _Pair, weight: int, distance: int, moves: Iterable[Move], *, order: bool = False) -> None:
        first, second = pair.first, pair.second
        accesses = (first.access, second.access) if first.access is not None and second.access is not None else None
        exact = pair.met.exact and not (first.guards or second.guards)
        ranges = tuple(move for move in moves if move[1:] != (0, 0))
        trivial = first is second and not ranges
        if not trivial and all(low <= high for _, low, high in ranges):
            self.edges.append(
                Edge(first.index, second.index, weight, distance, accesses, exact, order=order, ranges=ranges)
            )

    # -- moves between copies --------------------------------------------------------------------------

    def _most(self, number: int) -> int:
        return self.region.copy_loops[number].trip - 1

    def _any(self, number: int, known: int | None) -> Move:
        """The moves in a loop, of which at most one may be possible."""
        return (number, -self._most(number), self._most(number)) if known is None else (number, known, known)

    def _outside(self, first: RegionNode, second: RegionNode) -> Iterator[Move]:
        """A walk that leaves a loop begins at 0 there, and it may enter another one at any copy."""
        inside = len(common(first.around, second.around))
        for number in first.around[inside:]:
            yield number, -self._most(number), 0
        for number in second.around[inside:]:
            yield number, 0, self._most(number)

    def _moves(self, pair: _Pair, way: Meeting) -> Iterator[Move]:
        """The moves of a way to another iteration."""
        known = zip(pair.met.common, way.copies, strict=True)
        first, second = self.ends.get(pair.first.index, {}), self.ends.get(pair.second.index, {})
        for number, low, high in (*(self._any(*item) for item in known), *self._outside(pair.first, pair.second)):
            source = first.get(number) if number in pair.first.around else 0
            sink = second.get(number) if number in pair.second.around else 0
            low = max(low, (sink or 0) - (self._most(number) if source is None else source))
            high = min(high, (self._most(number) if sink is None else sink) - (source or 0))
            yield number, low, high

    def _later_copies(self, pair: _Pair, way: Meeting) -> Iterator[tuple[Move, ...]]:
        """The moves of a way to what runs later in the same iteration."""
        if any(t not in (0, None) for t in way.time):
            return
        known = list(zip(pair.met.common, way.copies, strict=True))
        outside = tuple(self._outside(pair.first, pair.second))
        for level, (number, value) in enumerate(known):
            if (value is None or value > 0) and self._most(number) > 0:
                first = (number, 1, self._most(number)) if value is None else (number, value, value)
                yield (first, *(self._any(*item) for item in known[level + 1 :]), *outside)
            if value not in (0, None):
                return
        if pair.first.position < pair.second.position:
            yield outside

    # -- values, streams and calls -----------------------------------------------------------------------

    def values(self) -> None:
        """Values of operations; an edge to a read takes the time of the read as well."""
        nodes, cycle = self.region.nodes, self.cycle
        for node in nodes:
            for source in self.region.inputs[node.index]:
                made = nodes[source]
                weight = made.delay + (0 if made.kind == "read" else made.latency * cycle)
                weight += node.latency * cycle if node.kind == "read" else 0
                self.edges.append(Edge(source, node.index, weight, ranges=tuple(self._outside(made, node))))

    def turn(self, first: RegionNode, second: RegionNode, cycles: int) -> None:
        """What happens at streams, one after the other in each copy."""
        ranges = tuple(self._outside(first, second))
        self.edges.append(Edge(first.index, second.index, cycles * self.cycle, ranges=ranges))

    def call(self, edge: Edge) -> None:
        """A call waits for any copy of what it waits for."""
        first, second = self.region.nodes[edge.source], self.region.nodes[edge.sink]
        shared = common(first.around, second.around)
        way = Meeting((), (None,) * len(shared))
        pair = _Pair(first, second, Meetings(shared, (way,), False))
        weight = edge.weight + (second.latency * self.cycle if second.kind == "read" else 0)
        self.edges += [
            replace(edge, weight=weight, distance=0, ranges=moves) for moves in self._later_copies(pair, way)
        ]
        if edge.distance:
            self.edges.append(replace(edge, weight=weight, ranges=tuple(self._moves(pair, way))))


def _reversed(met: Meetings) -> Meetings:
    return Meetings(met.common, tuple(map(reversed_meeting, met.ways)), met.exact)


def in_registers(node: RegionNode) -> bool:
    """Whether the array of an access is registers, or its element stays in one while the loop runs."""
    return node.in_register or (node.memory is not None and node.memory.is_register)
