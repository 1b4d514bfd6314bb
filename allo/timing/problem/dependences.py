"""Dependences of a region: which values wait for which others, through variables, arrays, copies and iterations."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise, product
from math import prod

from ...poly.covers import alike, cover_of
from ...poly.meetings import companions, least_distance, meetings
from ...poly.space import Meeting, Meetings, renewed
from .graph import Edge, Graph, Tree
from .lattice import Lattice
from .region import LoopBody, RegionNode
from .stream_order import all_turns, cycles_between, moves_and_looks, same_end, turns


def graph_of(region: LoopBody, cycle: int, exchangeable: Mapping[int, frozenset[int]]) -> Graph:
    """All edges of a region. `exchangeable` are accesses of updates, with the loops whose copies may be exchanged."""
    groups: dict[str, list[RegionNode]] = {}
    for node in region.nodes:
        if node.memory is not None and not node.op.name.startswith("allo.stream"):
            groups.setdefault(node.label, []).append(node)
    called = {access.buffer.label for node in region.nodes if node.kind == "call" for access in node.touched}
    for label, nodes in groups.items():
        if label not in called and region.assumes:
            _keep_in_registers(region, nodes)
        region.near |= companions(nodes)
    covers = {load: cover for nodes in groups.values() for load, cover in _covers(region, nodes)}
    calls = list(_calls(region, cycle))
    ordered = [*_turns(region)]
    stores = [node for nodes in groups.values() for node in nodes if node.kind == "write"]
    pairs = [(store, load) for store in stores for load in region.near[store.index] if load.kind == "read"]
    edges = [(a.index, b.index) for a, b, _ in ordered] + [(e.source, e.sink) for e in calls if not e.distance]
    found = Lattice(region, cycle, covers, _tails(region, covers, pairs, edges), exchangeable)
    for nodes in groups.values():
        found.array(nodes)
    found.values()
    for first, second, cycles in ordered:
        found.turn(first, second, cycles)
    for edge in calls:
        found.call(edge)
    return Graph(region, cycle, found.edges, _trees(region, covers, pairs, exchangeable))


def _keep_in_registers(region: LoopBody, nodes: list[RegionNode]) -> None:
    """An element that is the same in all iterations of the loop is read before and written after it."""
    if not region.time or any(not node.forms for node in nodes):
        return
    first = nodes[0].forms
    scoped = {loop.variable for loop in region.time} & renewed(nodes[0].access)
    same = all(node.forms == first for node in nodes)
    still = all(form is not None and not any(form.time) for form in first)
    certain = all(node.kind == "read" or not node.guards for node in nodes)
    reads_only = all(node.kind == "read" for node in nodes)
    if still and not scoped and (reads_only or (same and certain)):
        for node in nodes:
            node.in_register = True
            if node.kind == "read":
                node.latency = node.delay = 0


def _covers(region: LoopBody, nodes: Sequence[RegionNode]) -> Iterator[tuple[int, RegionNode]]:
    """The reads that stores of the same iteration and copy cover, whose values need not be read from the memory."""
    for load in nodes:
        if load.kind != "read":
            continue
        cover = cover_of([node for node in region.near[load.index] if node.kind == "write"], load)
        if cover is not None:
            yield load.index, cover
            if region.assumes or (load.memory is not None and load.memory.is_register):
                load.forwarded = True
                load.latency = load.delay = 0


def _turns(region: LoopBody) -> Iterator[tuple[RegionNode, RegionNode, int]]:
    """Puts and gets that come one after the other, and the cycles between them.

    Those of one stream keep their order, and what is done at several streams that of the program, so that nothing waits
    for what comes behind it: else a get that waits for the answer to an earlier put could keep that from happening.
    """
    for group in turns(region.nodes):
        for before, after in pairwise(group):
            yield from ((a, b, 1) for a, b in product(before, after))
    for move, look in moves_and_looks(region.nodes):
        if move.position < look.position:
            yield move, look, 1
    for before, after in pairwise(all_turns(region.nodes)):
        yield from ((a, b, cycles_between(a, b)) for a, b in product(before, after) if not same_end(a, b))


type _Flow = tuple[RegionNode, RegionNode]  # a store and a load of one array


def _tails(
    region: LoopBody, covers: Mapping[int, RegionNode], flows: Iterable[_Flow], ordered: Sequence[tuple[int, int]]
) -> list[int]:
    """How much logic there is between each node and the last register before it, on the way from what is read again.

    What else comes to a node is not part of a recurrence, and can wait in registers.
    """
    reached: set[int] = set()
    edges = [*ordered, *((source, n) for n, inputs in enumerate(region.inputs) for source in inputs)]
    for store, load in flows:
        met, cover = meetings(region.space, store, load), covers.get(load.index)
        if cover is None and any(least_distance(region.space, way) is not None for way in met.ways):
            reached.add(load.index)
        before = store.position <= load.position and (cover is None or store.position >= cover.position)
        if before and any(all(n in (0, None) for n in (*way.time, *way.copies)) for way in met.ways):
            edges.append((store.index, load.index))
    found = [0] * len(region.nodes)
    for first, second in sorted(edges, key=lambda edge: edge[1]):
        if first in reached:
            reached.add(second)
            source = region.nodes[first]
            is_register = source.latency and source.kind != "write"
            found[second] = max(found[second], source.delay + (0 if is_register else found[first]))
    return found


# -- trees -----------------------------------------------------------------------------------------------


def _trees(
    region: LoopBody,
    covers: Mapping[int, RegionNode],
    flows: Iterable[_Flow],
    exchangeable: Mapping[int, frozenset[int]],
) -> list[Tree]:
    """Updates whose copies, of one element one after the other, may be exchanged."""
    found: dict[int, tuple[int, Tree]] = {}
    for store, load in flows:
        if load.index not in exchangeable or not alike(store, load):
            continue
        inside = _between(region, load.index, store.index)
        met, cover = meetings(region.space, store, load), covers.get(load.index)
        killed = cover.around if cover is not None else ()
        links = [(_links(region, met, way, killed), way) for way in met.ways]
        count, best = max(links, key=lambda link: link[0], default=(1, None))
        if best is None or count <= 1 or load.index not in inside:
            continue
        moved = {n for n, difference in zip(met.common, best.copies, strict=True) if difference != 0}
        if moved <= exchangeable[load.index] and (load.index not in found or found[load.index][0] < count):
            found[load.index] = (count, Tree(load.index, store.index, tuple(sorted(moved)), inside))
    return [tree for _, tree in found.values()]


def _links(region: LoopBody, met: Meetings, way: Meeting, killed: tuple[int, ...]) -> int:
    """How many copies of one iteration meet one after the other; 1 if they do not."""
    if any(t not in (0, None) for t in way.time):
        return 1
    known = list(zip(met.common, way.copies, strict=True))
    count = prod(region.copy_loops[n].trip for n, c in known if c is None and n not in killed)
    number, difference = next(((n, c) for n, c in known if c), (0, 0))
    if not difference:
        return count
    return 1 if difference < 0 or number in killed else -(-region.copy_loops[number].trip // difference) * count


def _between(region: LoopBody, first: int, last: int) -> frozenset[int]:
    """The nodes on the way from the value of one to another."""
    behind, found = {first}, {last}
    for index in range(first + 1, last + 1):
        if not behind.isdisjoint(region.inputs[index]):
            behind.add(index)
    for index in range(last, first, -1):
        if index in found:
            found |= behind & set(region.inputs[index])
    return frozenset(found)


# -- calls -------------------------------------------------------------------------------------------------


def _calls(region: LoopBody, cycle: int) -> Iterator[Edge]:
    """A call keeps its place among everything that uses an array that it is given, now and in later iterations."""
    for call in [node for node in region.nodes if node.kind == "call"]:
        for node in region.nodes:
            conflict = _conflict(call, node)
            if conflict is None:
                continue
            label, first_writes, second_writes = conflict
            if node.position > call.position:
                yield Edge(call.index, node.index, call.latency * cycle)
            elif node.position < call.position and node.kind != "call":
                yield Edge(node.index, call.index, node.latency * cycle)
            if not region.time or label in _renewed(region, call):
                continue
            if first_writes:
                yield Edge(call.index, node.index, call.latency * cycle, 1)
            if second_writes and node is not call and node.kind != "call":
                yield Edge(node.index, call.index, node.latency * cycle, 1)


def _conflict(call: RegionNode, node: RegionNode) -> tuple[str, bool, bool] | None:
    """An array that both use and one writes, and whether the call, and the other, passes values on to it."""
    mine, others = _uses(call), _uses(node)
    for label in mine:
        if label not in others or not (mine[label][1] or others[label][1]):
            continue
        if node is call and not all(mine[label]):
            continue
        return label, mine[label][1] and others[label][0], others[label][1] and mine[label][0]
    return None


def _uses(node: RegionNode) -> dict[str, tuple[bool, bool]]:
    """For each array, whether a node reads and whether it writes it."""
    found: dict[str, tuple[bool, bool]] = {}
    for access in node.touched:
        reads, writes = found.get(access.buffer.label, (False, False))
        found[access.buffer.label] = (reads or not access.is_write, writes or access.is_write)
    return found


def _renewed(region: LoopBody, call: RegionNode) -> set[str]:
    """The arrays that are new in each iteration."""
    variables = {loop.variable for loop in region.time}
    return {a.buffer.label for a in call.touched if any(loop.variable in variables for loop in a.buffer.scope)}
