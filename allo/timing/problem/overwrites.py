"""Anti- and output dependences: edges to a write from earlier reads and writes of its element."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from ...poly.meetings import least_distance, meetings, reversed_meeting
from ...poly.space import Meeting, Meetings
from .graph import Edge, Graph
from .region import RegionNode


class Overwrites:
    """Anti and output dependences of a region.

    Those within an iteration go to the graph at once; `carried` are those to later iterations. A write may take place
    in the cycle in which the old value is read; two writes of an element are a cycle apart.
    """

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.carried: list[Edge] = []

    def read_before(self, store: RegionNode, load: RegionNode, met: Meetings) -> None:
        """A value is read before it is overwritten; `met` says how the load meets earlier stores."""
        if load.forwarded:
            return
        ways = [reversed_meeting(way) for way in met.ways]
        if store.position > load.position and any(map(_in_one_iteration, ways)):
            self.graph.edges.append(Edge(load.index, store.index, 0, order=True))
            return
        self._later(load, store, met, ways, 0)

    def twice(self, stores: Sequence[RegionNode]) -> None:
        """The last of several writes of an element is the one that stays."""
        for first, second in combinations(sorted(stores, key=lambda node: node.position), 2):
            met = meetings(self.graph.region.space, first, second)
            in_register = first.in_register or (first.memory is not None and first.memory.is_register)
            if any(map(_in_one_iteration, met.ways)):
                weight = 0 if in_register or _exclusive(first, second) else self.graph.cycle
                self.graph.edges.append(Edge(first.index, second.index, weight, order=True))
            else:
                self._later(first, second, met, list(met.ways), self.graph.cycle)
            self._later(second, first, met, [reversed_meeting(way) for way in met.ways], self.graph.cycle)

    def _later(self, source: RegionNode, sink: RegionNode, met: Meetings, ways: list[Meeting], weight: int) -> None:
        """The edge to the first later iteration that writes the element."""
        space = self.graph.region.space
        found = [(d, way) for way in ways if (d := least_distance(space, way)) is not None]
        if not found:
            return
        distance, way = min(found, key=lambda item: item[0])
        pair = (source.access, sink.access) if source.access is not None and sink.access is not None else None
        moves = tuple((n, c) for n, c in zip(met.common, way.copies, strict=True) if c != 0)
        exact = met.exact and not (source.guards or sink.guards)
        self.carried.append(Edge(source.index, sink.index, weight, distance, pair, exact, moves, order=True))


def _in_one_iteration(way: Meeting) -> bool:
    """Whether a copy of the second meets the same or an earlier copy of the first."""
    return all(t in (0, None) for t in way.time) and all(c is None or c >= 0 for c in way.copies)


def _exclusive(first: RegionNode, second: RegionNode) -> bool:
    """Whether they are in different branches of a condition."""
    return any(a == b and one != other for a, one in first.guards for b, other in second.guards)
