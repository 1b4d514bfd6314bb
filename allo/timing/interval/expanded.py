"""Least interval of small regions: a graph with a node for each copy, and all that pass through memory by value.

Where loops have few iterations and copies, or move all accesses of an array alike, all occurrences are looked at
(`poly.waits`), and nothing has to be assumed of subscripts, conditions and ends of loops.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ...poly.occurrences import Numbers
from ...poly.waits import ArrayWaits, CopyWaits, Why, waits_of
from ..problem.graph import Edge, Graph
from ..problem.region import LoopBody, RegionNode
from .relaxation import CopyEdges, Relaxation, Unsettled
from .walks import components

_MOST_OCCURRENCES = 1 << 18
_MOST_NODES = 1 << 10


def least_interval(graph: Graph, enough: int, most: int) -> tuple[int, tuple[Edge, ...]] | None:
    """The least interval of a region between two bounds and the edges that demand it; None if it is too large to say.

    The edges are those of a closed walk, in the nodes of the region; none if the interval is one of the bounds.
    """
    expanded = _expanded(graph, enough)
    if expanded is None:
        return None
    low, high = enough, most
    if expanded.settles(low):
        return low, ()
    if not expanded.settles(most - 1):
        return most, ()
    high = most - 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if expanded.settles(middle) else (middle, high)
    return high, expanded.walk(low)


def _expanded(graph: Graph, enough: int) -> Expanded | None:
    """The graph of the nodes that wait for one another, if it is small and all of it is known."""
    region = graph.region
    pairs = [(edge.source, edge.sink) for edge in graph.edges]
    inside = sorted(set[int]().union(*components(len(region.nodes), pairs)))
    nodes = [region.nodes[index] for index in inside]
    counts = {node.index: region.count(node.around) for node in nodes}
    if sum(counts.values()) > _MOST_NODES or any(node.kind == "call" for node in region.nodes):
        return None
    labels = dict.fromkeys(node.label for node in nodes if _in_memory(node))
    arrays = [[node for node in region.nodes if node.label == label and _in_memory(node)] for label in labels]
    if any(node.access is None for array in arrays for node in array):
        return None
    longest = sum((node.latency + 2) * counts[node.index] for node in nodes)
    memories = waits_of(region.space, arrays, _MOST_OCCURRENCES, longest // enough + 1)
    if memories is None:
        return None
    return Expanded(graph, counts, memories)


def _in_memory(node: RegionNode) -> bool:
    return node.memory is not None and not node.op.name.startswith("allo.stream")


class Expanded:
    """Copies by number: those of a node follow one another; a read has one where it starts and one where it ends."""

    def __init__(self, graph: Graph, counts: Mapping[int, int], memories: Sequence[ArrayWaits]) -> None:
        self.graph, self.cycle, self.counts = graph, graph.cycle, counts
        self.region: LoopBody = graph.region
        self.first: dict[int, int] = {}
        self.ends: dict[int, int] = {}
        self.node_of: list[int] = []
        for index, count in counts.items():
            self.first[index] = self.ends[index] = len(self.node_of)
            self.node_of += [index] * count
            if self.region.nodes[index].kind == "read":
                self.ends[index] = len(self.node_of)
                self.node_of += [index] * count
        self.still = {n for memory in memories for n in memory.still}
        self.fetched = {n: copies for memory in memories for n, copies in memory.fetched.items()}
        rows = [*self._reads(), *self._values(), *(row for memory in memories for row in self._memory(memory))]
        delays = np.zeros(len(self.node_of), np.int64)
        for index, count in counts.items():
            node = self.region.nodes[index]
            if node.latency == 0 and node.kind == "compute":
                delays[self.first[index] : self.first[index] + count] = node.delay
        self.relaxation = Relaxation(self.cycle, rows, delays)

    # -- edges -----------------------------------------------------------------------------------------

    def _reads(self) -> list[CopyEdges]:
        """The time that a read takes: none for a register, and for what the same iteration has written."""
        found = []
        for index, count in self.counts.items():
            node = self.region.nodes[index]
            if node.kind != "read":
                continue
            direct = np.ones(count, np.bool_)
            if node.memory is not None and not self._in_register(node):
                direct[self.fetched.get(index, np.arange(count))] = False
                latency, delay = node.memory.read, 0 if node.routing is None else node.routing.delay
                found.append(self._read(node, np.flatnonzero(~direct), latency, delay))
            found.append(self._read(node, np.flatnonzero(direct), 0, 0))
        return found

    def _read(self, node: RegionNode, copies: Numbers, latency: int, delay: int) -> CopyEdges:
        sources, sinks = self.first[node.index] + copies, self.ends[node.index] + copies
        return CopyEdges.of(sources, sinks, latency * self.cycle + delay, np.zeros_like(copies), from_cycle=latency > 0)

    def _in_register(self, node: RegionNode) -> bool:
        """Whether an element stays in a register, and is in the memory before and after the loop only."""
        return node.in_register or node.index in self.still

    def _values(self) -> list[CopyEdges]:
        """What uses the value of another node."""
        found = []
        for index, count in self.counts.items():
            for source in self.region.inputs[index]:
                if source not in self.counts:
                    continue
                copies = np.arange(count)
                made = self.region.nodes[source]
                outer = copies // (count // self.counts[source])
                latency, delay = (0, 0) if made.kind == "read" else (made.latency, made.delay)
                found.append(
                    CopyEdges.of(
                        self.ends[source] + outer, self.first[index] + copies, latency * self.cycle + delay,
                        np.zeros_like(copies), from_cycle=latency > 0,
                    )
                )  # fmt: skip
        return found

    def _memory(self, memory: ArrayWaits) -> list[CopyEdges]:
        """What waits for an element."""
        found = []
        for waits in memory.waits:
            if waits.source in self.counts and waits.sink in self.counts:
                found += self._waiting(waits)
        return found

    def _waiting(self, waits: CopyWaits) -> list[CopyEdges]:
        source = self.region.nodes[waits.source]
        sources = self.first[waits.source] + waits.copies
        sinks = self.first[waits.sink] + waits.sink_copies
        own = (waits.distances == 0) & (not waits.compared)  # no hardware compares subscripts to pass on a value
        if waits.why is Why.READ:
            return [CopyEdges.of(sources, sinks, 0, waits.distances, from_cycle=True, order=True)]
        if waits.why is Why.WRITTEN:
            if self._in_register(source) or (source.memory is not None and source.memory.is_register):
                return []
            return [CopyEdges.of(sources, sinks, self.cycle, waits.distances, from_cycle=True, order=True)]
        ends = self.ends[waits.sink] + waits.sink_copies
        weight, later = source.latency * self.cycle, ~own
        return [
            CopyEdges.of(sources[own], ends[own], 0, waits.distances[own], from_cycle=False),
            CopyEdges.of(sources[later], sinks[later], weight, waits.distances[later], from_cycle=True),
        ]

    # -- times -----------------------------------------------------------------------------------------

    def settles(self, interval: int) -> bool:
        """Whether times exist that are the same in each iteration."""
        return isinstance(self.relaxation.run(interval), np.ndarray)

    def walk(self, interval: int) -> tuple[Edge, ...]:
        """A closed walk that takes longer than its iterations at an interval that is too short."""
        found = self.relaxation.run(interval)
        if not isinstance(found, Unsettled):
            return ()
        before, at = found.before, found.node
        seen: list[int] = []
        while at not in seen:
            seen.append(at)
            at = int(self.relaxation.rows.sources[before[at]])
        cycle = [int(before[node]) for node in seen[seen.index(at) :]][::-1]
        edges = [self._edge(row) for row in cycle]
        nodes = self.region.nodes  # the time of a read is told by the edge to it
        return tuple(edge for edge in edges if edge.source != edge.sink or nodes[edge.sink].kind != "read")

    def _edge(self, row: int) -> Edge:
        rows = self.relaxation.rows
        source, sink = (self.node_of[int(side[row])] for side in (rows.sources, rows.sinks))
        return Edge(
            source, sink, int(rows.weights[row]), int(rows.distances[row]), order=bool(rows.order[row])
        )
