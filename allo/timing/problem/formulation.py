"""Formulation of a body as a scheduling problem: its graph of nodes and edges, as operations and dependences."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache

from ...poly.covers import alike
from .between import between
from .graph import Edge, Graph
from .operators import word_of
from .ports import Accesses
from .problem import Move, Operation, Passing, Precedence, Problem, SharedMemory
from .region import LoopBody
from .stream_order import stream_order


def problem_of(graph: Graph, accesses: Sequence[Accesses]) -> Problem:
    """The problem of a body, with the ports of the arrays that it accesses."""
    region = graph.region
    found = _Formulation(graph)
    trips = tuple(loop.trip for loop in region.copy_loops)
    dependences = _needed([*found.values(), *found.others(), *found.trees(), *stream_order(region)])
    memories = tuple(_memory(region, a, dependences) for a in accesses)
    names = tuple(loop.name for loop in region.copy_loops)
    return Problem(graph.cycle, trips, names, tuple(found.operations()), dependences, memories)


def _memory(region: LoopBody, accesses: Accesses, dependences: Sequence[Precedence]) -> SharedMemory:
    """An array; what stands between accesses is asked where all is built as it stands, one by one."""
    memory, uses = accesses.memory, accesses.uses
    is_built = not region.assumes and not region.copy_loops and memory.kind.name != "FIFO"
    kept_apart = between(region, uses, dependences) if is_built else {}
    return SharedMemory(
        memory.name, memory.kind.name, memory.ports, len(accesses.reads), memory.read, uses, kept_apart
    )


def _needed(dependences: Sequence[Precedence]) -> tuple[Precedence, ...]:
    """Without those that others of no larger distance, of as many copies, imply."""
    groups: dict[tuple[object, ...], list[Precedence]] = {}
    for d in sorted(dict.fromkeys(dependences), key=lambda d: d.distance):
        kept = groups.setdefault((d.source, d.sink, d.passing, d.cycles, d.tree), [])
        if not any(_covers(other, d) for other in kept):
            kept.append(d)
    return tuple(d for kept in groups.values() for d in kept)


def _covers(one: Precedence, other: Precedence) -> bool:
    """Whether the copies that one leads to are among those of another."""
    wide = {move.loop: move for move in one.moves}
    narrow = {move.loop: move for move in other.moves}
    same = Move(-1, 0, 0)
    return all(
        wide.get(n, same).low <= narrow.get(n, same).low and narrow.get(n, same).high <= wide.get(n, same).high
        for n in wide.keys() | narrow.keys()
    )


class _Formulation:
    """One body. Nodes that pass values between their copies have copies, although what they compute is one term."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.nodes = graph.region.nodes
        self.edges = [edge for edge in graph.edges if not self._is_value(edge)]
        self.loops = self._loops()

    def _is_stream(self, edge: Edge) -> bool:
        ends = (self.nodes[edge.source], self.nodes[edge.sink])
        return all(node.op.name.startswith("allo.stream") for node in ends)

    def _is_value(self, edge: Edge) -> bool:
        is_input = edge.source in self.graph.region.inputs[edge.sink]
        return is_input and not edge.distance and not edge.order and edge.pair is None

    def _loops(self) -> list[frozenset[int]]:
        """The copies of each node: those that it is given values in, too, from memory or in a chain."""
        loops = [node.copies for node in self.nodes]
        passed: list[tuple[int, int]] = []
        for tree in self.graph.trees:
            for taker in self._takers(tree.store, tree.load):
                passed.append((tree.store, taker))
                loops[taker] |= frozenset(tree.loops)
        for edge in self.edges:
            if self._passes(edge) and not edge.distance and not edge.order:
                takers = self._takers(edge.source, edge.sink) if edge.weight <= 0 else (edge.sink,)
                passed += [(edge.source, n) for n in takers]
                for taker in takers:
                    if edge.source >= taker:  # from one copy to a later one
                        loops[taker] |= {move.loop for move in self._moves(edge) if move.low > 0}
        for edge in self._alternating():
            for n in (edge.source, edge.sink):
                loops[n] |= {m.loop for m in self._moves(edge) if m.low > 0 and m.loop in self.nodes[n].around}
        changed = True
        while changed:
            before = [*loops]
            for index, inputs in enumerate(self.graph.region.inputs):
                loops[index] = loops[index].union(*(loops[source] for source in inputs))
            for source, sink in passed:
                loops[sink] |= loops[source] & frozenset(self.nodes[sink].around)
            changed = loops != before
        return loops

    def _alternating(self) -> Iterator[Edge]:
        """Edges to later copies of what their source waits for: an element that takes one value after the other.

        What waits for a value that an earlier copy computes has copies anyhow, as all that computes it.
        """
        flowing: dict[int, list[tuple[int, bool]]] = {}
        for index, inputs in enumerate(self.graph.region.inputs):
            for source in inputs:
                made = self.nodes[source]
                flowing.setdefault(source, []).append((index, made.latency > 0 or made.delay > 0))
        following = {source: [*sinks] for source, sinks in flowing.items()}
        for edge in self.edges:
            if not edge.distance:
                for table in (following,) if edge.order else (following, flowing):
                    table.setdefault(edge.source, []).append((edge.sink, edge.weight > 0))
        late, computed = cache(lambda node: _later(node, following)), cache(lambda node: _later(node, flowing))
        for edge in self.edges:
            is_back = not edge.distance and edge.source > edge.sink and (edge.order or self._passes(edge))
            waits = is_back and edge.source in late(edge.sink)
            if waits and (edge.order or edge.source not in computed(edge.sink)):
                yield edge

    def _passes(self, edge: Edge) -> bool:
        source, sink = self.nodes[edge.source], self.nodes[edge.sink]
        return source.kind == "write" and sink.kind == "read"

    def operations(self) -> Iterator[Operation]:
        """The operations, in the order of the nodes."""
        for node, loops in zip(self.nodes, self.loops, strict=True):
            name = f"{node.kind} {node.memory.name}" if node.memory is not None else word_of(node.op)
            shared = node.kind == "compute" and bool(node.operator.dsp or node.operator.latency)
            yield Operation(
                name, node.kind, node.latency, node.delay, tuple(sorted(loops)),
                node.operator if shared else None, node.width,
            )  # fmt: skip

    def values(self) -> Iterator[Precedence]:
        """Values that are used; a leaf of a tree is used by the copy behind it, or by its own."""
        leaves = {index: tree for tree in self.graph.trees for index in tree.inside}
        for index, inputs in enumerate(self.graph.region.inputs):
            tree = leaves.get(index)
            for source in inputs:
                if tree is None or leaves.get(source) is tree:
                    moves = self._to_first(tree.loops, source) if tree is not None else ()
                    yield Precedence(source, index, Passing.VALUE, moves=moves)
                else:
                    most = [self.graph.region.copy_loops[n].trip - 1 for n in tree.loops]
                    single = len(most) == 1
                    ranges = ((0, 1) if single else (-m, m) for m in most)
                    moves = tuple(Move(n, *between) for n, between in zip(tree.loops, ranges, strict=True))
                    yield Precedence(source, index, Passing.VALUE, moves=moves)

    def others(self) -> Iterator[Precedence]:
        """Values that pass through memory, and what keeps its order."""
        for edge in self.edges:
            source = self.nodes[edge.source]
            if not edge.distance and edge.source == edge.sink and not edge.ranges:
                continue
            passing, cycles = Passing.CYCLES, source.latency
            if edge.order:
                cycles = max(0, edge.weight) // self.graph.cycle if source.kind == "write" else 0
            elif self._passes(edge) and not edge.distance and edge.weight <= 0:
                passing, cycles = Passing.FORWARD, 0
            elif self._is_stream(edge):
                cycles = edge.weight // self.graph.cycle
            moves = self._moves_at_tree(edge)
            for index in self._takers(edge.source, edge.sink) if passing is Passing.FORWARD else (edge.sink,):
                yield Precedence(edge.source, index, passing, cycles, edge.distance, moves)

    def _takers(self, store: int, load: int) -> Sequence[int]:
        """What takes a value that is stored: a read, or, where it is that of a copy before, what uses the read.

        Without copies the read is as it stands: behind a store under a condition it finds what the element holds then.
        """
        read = self.nodes[load]
        if not self.graph.region.assumes or not alike(self.nodes[store], read) or not (read.latency or read.delay):
            return (load,)
        return [index for index, inputs in enumerate(self.graph.region.inputs) if load in inputs]

    def _moves(self, edge: Edge) -> tuple[Move, ...]:
        return tuple(Move(*move) for move in edge.ranges)

    def _moves_at_tree(self, edge: Edge) -> tuple[Move, ...]:
        """The moves of an edge; copy 0 of a tree, the last one, takes the value from before and has the sum."""
        moves = self._moves(edge)
        tree = next((one for one in self.graph.trees if edge.sink in (one.load, one.store)), None)
        if tree is None:
            return moves
        if edge.source in (tree.load, tree.store):
            moves = tuple(move for move in moves if move.loop not in tree.loops)
        firsts = self._to_first(tree.loops, edge.source)
        return (*(move for move in moves if move.loop not in {first.loop for first in firsts}), *firsts)

    def _to_first(self, loops: Sequence[int], source: int) -> tuple[Move, ...]:
        """From a node to copy 0 of others, in the loops of which it has no copies."""
        most = {n: self.graph.region.copy_loops[n].trip - 1 for n in loops if n not in self.loops[source]}
        return tuple(Move(n, -m, -m) for n, m in most.items())

    def trees(self) -> Iterator[Precedence]:
        """Copies of updates whose order does not matter."""
        for tree in self.graph.trees:
            for index in self._takers(tree.store, tree.load):
                yield Precedence(tree.store, index, Passing.FORWARD, tree=tree.loops)


def _later(first: int, following: Mapping[int, Sequence[tuple[int, bool]]]) -> set[int]:
    """What starts some time after a node, by the nodes that follow each, and whether they do later."""
    reached = [(first, False)]
    seen = set(reached)
    for node, is_later in reached:
        for sink, waits in following.get(node, ()):
            found = (sink, is_later or waits)
            if found not in seen:
                seen.add(found)
                reached.append(found)
    return {node for node, is_later in reached if is_later}
