"""Iterative modulo scheduling of a region, with ports and units: the cycle in which each operation starts."""

from __future__ import annotations

from dataclasses import dataclass, replace

from .problem.graph import Edge, Graph
from .problem.ports import Accesses
from .problem.region import RegionNode
from .reservations import Reservations

_ATTEMPTS = 64
_PASSES = 8
_MOST_DELAYED = 8
_FOREVER = 1 << 30  # the interval of what is not pipelined


@dataclass(frozen=True, slots=True)
class Timing:
    """The cycles in which the first and the last copy of each node start, from 0, and the depth of the pipeline."""

    interval: int
    starts: tuple[int, ...]
    ends: tuple[int, ...]
    depth: int


def schedule(graph: Graph, accesses: list[Accesses], interval: int | None) -> Timing:
    """The schedule with the least interval from `interval` on; None: iterations do not overlap.

    If none is found soon, iterations do not overlap, and the interval is the depth.
    """
    accesses = [a.merged() for a in accesses]
    if interval is None:
        return _Attempt(graph, accesses, _FOREVER, {}).run()
    reads = [n for a in accesses for n in a.counts if graph.region.nodes[n].kind == "read"][:_MOST_DELAYED]
    # A read that waits for a cycle may leave the port to one that a recurrence needs at that time.
    beginnings: list[dict[int, int]] = [{}, *({read: graph.cycle} for read in reads)]
    for candidate in range(interval, interval + _ATTEMPTS):
        for least in beginnings:
            timing = _settled(graph, accesses, candidate, dict(least))
            if timing is not None:
                return timing
    in_turn = _Attempt(graph, accesses, _FOREVER, {}).run()
    return replace(in_turn, interval=max(in_turn.depth, interval))


def _settled(graph: Graph, accesses: list[Accesses], interval: int, least: dict[int, int]) -> Timing | None:
    """A schedule in which all that is carried to later iterations is there in time; None if none was found.

    Nodes do not start before `least`, which is changed.
    """
    carried = [edge for edge in graph.edges if edge.distance]
    for _ in range(_PASSES + 2 * len(carried)):
        attempt = _Attempt(graph, accesses, interval, least)
        timing = attempt.run()
        late = False
        for edge in carried:
            ready = attempt.carried(edge)
            wanted = -(-(ready - interval * edge.distance * graph.cycle) // graph.cycle) * graph.cycle
            if wanted > attempt.start[edge.sink]:
                least[edge.sink] = max(least.get(edge.sink, 0), wanted)
                late = True
        if not late:
            return timing
    return None


class _Attempt:
    """One interval: nodes in the order of their values, each in the first cycle where its copies find ports."""

    def __init__(self, graph: Graph, accesses: list[Accesses], interval: int, least: dict[int, int]) -> None:
        self.graph = graph
        self.least = least  # ps before which nodes do not start
        self.start = [0] * len(graph.region.nodes)  # ps
        self.late = [0] * len(graph.region.nodes)  # ps that the last copy starts after the first one
        self.interval = interval
        self.nodes = graph.region.nodes
        self.ports = {
            index: (counts, table)
            for a, table in ((a, Reservations(a.memory.ports, a.reads.size, interval)) for a in accesses)
            for index, counts in a.counts.items()
            if counts.any()
        }
        self.incoming: dict[int, list[Edge]] = {}
        for edge in graph.edges:
            if not edge.distance:
                self.incoming.setdefault(edge.sink, []).append(edge)

    def run(self) -> Timing:
        start, late = self.start, self.late
        for index in self._order():
            node = self.nodes[index]
            ready = self.least.get(index, 0)
            for edge in self.incoming.get(index, ()):
                ready = max(ready, self._after(start[edge.source] + late[edge.source], edge, node))
            start[index] = ready
            if index in self.ports:
                cycle = -(-ready // self.graph.cycle) if node.kind == "read" else ready // self.graph.cycle
                wanted, table = self.ports[index]
                first, last = table.place(wanted, cycle, is_read=node.kind == "read")
                start[index] = max(ready, first * self.graph.cycle)
                late[index] = (last - first) * self.graph.cycle
        cycle = self.graph.cycle
        starts = tuple(s // cycle for s in start)
        ends = tuple((s + x) // cycle for s, x in zip(start, late, strict=True))
        depth = 1
        for node in self.nodes:
            done = start[node.index] + late[node.index] + self.graph.cost(node)
            depth = max(depth, -(-done // cycle) if node.latency == 0 else done // cycle)
        return Timing(self.interval, starts, ends, depth)

    def carried(self, edge: Edge) -> int:
        """When what is carried is ready, in ps: memory is read and written in cycles, with the logic before a write."""
        start, cycle = self.start[edge.source] + self.late[edge.source], self.graph.cycle
        if edge.order:
            return start // cycle * cycle + edge.weight
        if self.nodes[edge.source].kind == "write":
            return start // cycle * cycle + edge.weight + self.graph.tails[edge.source] % cycle
        return start + edge.weight

    def _after(self, start: int, edge: Edge, sink: RegionNode) -> int:
        """The earliest start of `sink` behind the source of an edge, in ps; logic does not cross a clock edge."""
        source = self.nodes[edge.source]
        cycle = self.graph.cycle
        # Behind a register, and what is read after it was written, is there at a clock edge.
        if source.latency and (source.kind != "write" or edge.weight):
            ready = start // cycle * cycle + edge.weight
        else:
            ready = start + edge.weight
        if sink.latency == 0 and sink.delay and ready % cycle + sink.delay > cycle:
            ready = (ready // cycle + 1) * cycle
        return ready

    def _order(self) -> list[int]:
        """Nodes behind all that they wait for within an iteration."""
        waiting = {index: len(edges) for index, edges in self.incoming.items()}
        following: dict[int, list[int]] = {}
        for index, edges in self.incoming.items():
            for edge in edges:
                following.setdefault(edge.source, []).append(index)
        ready = [n for n in range(len(self.nodes)) if not waiting.get(n)]
        order: list[int] = []
        while ready:
            index = ready.pop(0)
            order.append(index)
            for target in following.get(index, ()):
                waiting[target] -= 1
                if not waiting[target]:
                    ready.append(target)
        return order if len(order) == len(self.nodes) else list(range(len(self.nodes)))
