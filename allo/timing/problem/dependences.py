"""Dependences of a region: which values wait for which others, through variables, arrays, copies and iterations."""

from __future__ import annotations

from collections.abc import Mapping, Set
from itertools import pairwise, product
from math import prod

from ...poly.covers import alike, cover_of
from ...poly.meetings import least_distance, meetings
from ...poly.space import Meeting, Meetings, renewed
from .graph import Chain, Edge, Graph
from .lattice import edges_between_copies
from .overwrites import Overwrites
from .region import LoopBody, RegionNode
from .stream_order import all_turns, cycles_between, same_end, turns


def graph_of(region: LoopBody, cycle: int, exchangeable: Mapping[int, frozenset[int]]) -> Graph:
    """All edges of a region. `exchangeable` are accesses of updates, with the loops whose copies may be exchanged."""
    graph = Graph(region, cycle)
    groups: dict[str, list[RegionNode]] = {}
    for node in region.nodes:
        if node.memory is not None:
            groups.setdefault(node.label, []).append(node)
    called = {access.buffer.label for node in region.nodes if node.kind == "call" for access in node.touched}
    for label, nodes in groups.items():
        if label not in called and region.assumes:
            _keep_in_registers(region, nodes)
    carried: list[tuple[RegionNode, RegionNode, Meetings, RegionNode | None]] = []
    overwrites = Overwrites(graph)
    later: list[tuple[RegionNode, RegionNode, Meetings, RegionNode | None]] = []
    for nodes in groups.values():
        _streams(graph, nodes)
        stores = [node for node in nodes if node.kind == "write"]
        for load in [node for node in nodes if node.kind == "read" and not _is_stream(node)]:
            cover = cover_of(stores, load)
            load.forwarded = cover is not None and (region.assumes or _is_register(load))
            for store in stores:
                met = meetings(region.space, store, load)
                _same_iteration(graph, store, load, met, cover)
                overwrites.read_before(store, load, met)
                later.append((store, load, met, cover))
                if cover is None and region.time:
                    carried.append((store, load, met, cover))
        overwrites.twice([store for store in stores if not _is_stream(store)])
    _program_order(graph)
    calls = _calls(graph)
    graph.edges += calls
    ordered = list(graph.edges)
    _values(graph)
    _chains(graph, later, exchangeable)
    graph.edges = ordered
    _values(graph)
    _logic(graph, {load.index for _, load, met, _ in carried if _meets_later(region, met)})
    for store, load, met, _ in carried:
        _carried(graph, store, load, met)
    graph.edges += overwrites.carried
    graph.copies = edges_between_copies(graph, exchangeable, calls)
    return graph


def _is_stream(node: RegionNode) -> bool:
    return bool(node.op.name.startswith("allo.stream"))


def _is_register(node: RegionNode) -> bool:
    return node.memory is not None and node.memory.is_register


def _keep_in_registers(region: LoopBody, nodes: list[RegionNode]) -> None:
    """An element that is the same in all iterations of the loop is read before and written after it."""
    if not region.time or any(_is_stream(node) or not node.forms for node in nodes):
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


def _same_iteration(
    graph: Graph, store: RegionNode, load: RegionNode, met: Meetings, cover: RegionNode | None
) -> None:
    """The edge from a store to a load behind it in the same copy."""
    if store.position > load.position:
        return
    if cover is not None and store.position < cover.position:
        return
    for way in met.ways:
        if all(t in (0, None) for t in way.time) and all(c in (0, None) for c in way.copies):
            forwarded = store is cover and load.forwarded
            direct = forwarded or _is_register(store) or store.in_register
            weight = 0 if direct else store.latency * graph.cycle
            graph.edges.append(Edge(store.index, load.index, weight))
            if forwarded:
                load.latency = load.delay = 0
            return


def _values(graph: Graph) -> None:
    """Edges of values: from what computes one to what uses it."""
    nodes = graph.region.nodes
    trees = {load: chain.extra for load, chain in graph.chains.items() if chain.tree}
    for index, inputs in enumerate(graph.region.inputs):
        # The copies of what is added form a tree; the sum so far is added last.
        extra = max((trees[load] for load in inputs if load in trees), default=0)
        for source in inputs:
            weight = graph.cost(nodes[source])
            graph.edges.append(Edge(source, index, weight if source in trees else weight + extra))


def _streams(graph: Graph, nodes: list[RegionNode]) -> None:
    """Puts and gets of one stream keep their order."""
    for group in turns(nodes):
        for before, after in pairwise(group):
            graph.edges += [Edge(a.index, b.index, graph.cycle) for a, b in product(before, after)]


def _program_order(graph: Graph) -> None:
    """What is done at several streams keeps the order of the program, so that nothing waits for what comes behind it.

    Else a get that waits for the answer to an earlier put could keep that from happening.
    """
    for before, after in pairwise(all_turns(graph.region.nodes)):
        for a, b in product(before, after):
            if not same_end(a, b):
                graph.edges.append(Edge(a.index, b.index, cycles_between(a, b) * graph.cycle))


def _meets_later(region: LoopBody, met: Meetings) -> bool:
    """Whether a later iteration reads what an earlier one has written."""
    return any(least_distance(region.space, way) is not None for way in met.ways)


def _logic(graph: Graph, again: Set[int]) -> None:
    """How much logic there is between each node and the last register before it, on the way from what is read `again`.

    What else comes to a node is not part of a recurrence, and can wait in registers.
    """
    nodes = graph.region.nodes
    graph.tails = [0] * len(nodes)
    reached = set(again)
    for edge in sorted((e for e in graph.edges if not e.order), key=lambda e: e.sink):
        if edge.source not in reached:
            continue
        reached.add(edge.sink)
        source = nodes[edge.source]
        is_register = source.latency and source.kind != "write"
        tail = source.delay + (0 if is_register else graph.tails[edge.source])
        graph.tails[edge.sink] = max(graph.tails[edge.sink], tail)


# -- chains of copies ------------------------------------------------------------------------------------


def _chains(
    graph: Graph,
    pairs: list[tuple[RegionNode, RegionNode, Meetings, RegionNode | None]],
    exchangeable: Mapping[int, frozenset[int]],
) -> None:
    """Loads whose value the copy before has stored: their copies run one after the other."""
    for store, load, met, cover in sorted(pairs, key=lambda item: (len(item[1].around), item[1].index)):
        killed = cover.around if cover is not None else ()
        best: tuple[int, int, int] | None = None
        moved: set[int] = set()
        for way in met.ways:
            link = _link(graph.region, met, way, killed)
            if link is not None and (best is None or link[0] > best[0]):
                best = link
                moved = {n for n, difference in zip(met.common, way.copies, strict=True) if difference != 0}
        if best is None:
            continue
        each = _longest(graph, load.index, store.index)
        if each is None:
            continue
        links, loop, step = best
        tree = alike(store, load) and moved <= exchangeable.get(load.index, frozenset())
        if not (graph.region.assumes or _is_register(load)):
            each += (store.latency + load.latency) * graph.cycle  # by way of the memory
        chain = Chain(links, each, loop, step, tree, store.index, tuple(sorted(moved)))
        before = graph.chains.get(load.index)
        if before is None or before.extra < chain.extra:
            graph.chains[load.index] = chain
            for edge in graph.edges:
                if edge.source == load.index and not edge.distance:
                    edge.weight = graph.cost(load)


def _link(region: LoopBody, met: Meetings, way: Meeting, killed: tuple[int, ...]) -> tuple[int, int, int] | None:
    """(copies in a row, their loop, their distance) if the copies of one iteration meet one after the other."""
    if any(t not in (0, None) for t in way.time):
        return None
    free = [n for n, c in zip(met.common, way.copies, strict=True) if c is None and n not in killed]
    for number, difference in zip(met.common, way.copies, strict=True):
        if difference is None or difference == 0:
            continue
        if difference < 0 or number in killed:
            break
        trip = -(-region.copy_loops[number].trip // difference)
        return trip * prod(region.copy_loops[n].trip for n in free), number, difference
    else:
        count = prod(region.copy_loops[n].trip for n in free)
        return (count, free[-1], 1) if count > 1 else None
    return None


def _longest(graph: Graph, start: int, end: int) -> int | None:
    """The longest path within an iteration from the value of one node to the start of another."""
    nodes = graph.region.nodes
    best: dict[int, int] = {start: 0}
    following: dict[int, list[Edge]] = {}
    for edge in graph.edges:
        if not edge.distance and not edge.order:
            following.setdefault(edge.source, []).append(edge)
    for index in range(start, end + 1):
        if index not in best:
            continue
        for edge in following.get(index, ()):
            if edge.sink > index:
                weight = edge.weight - (graph.cost(nodes[start]) if index == start else 0)
                best[edge.sink] = max(best.get(edge.sink, -1), best[index] + weight)
    return best.get(end)


# -- later iterations --------------------------------------------------------------------------------------


def _carried(graph: Graph, store: RegionNode, load: RegionNode, met: Meetings) -> None:
    """Edges from a store to the first later iterations that read its element, one for each move between copies."""
    region = graph.region
    nearest: dict[tuple[int | None, ...], tuple[int, Meeting]] = {}
    for way in met.ways:
        distance = least_distance(region.space, way)
        if distance is not None and (way.copies not in nearest or distance < nearest[way.copies][0]):
            nearest[way.copies] = (distance, way)
    chain = graph.chains.get(load.index)
    passing = next((c for c in graph.chains.values() if c.store == store.index), None)
    guarded = bool(store.guards or load.guards)
    pair = (store.access, load.access) if store.access is not None and load.access is not None else None
    for distance, way in nearest.values():
        # Logic before the store takes place in the cycle of the write.
        weight = store.latency * graph.cycle - graph.tails[store.index] % graph.cycle
        if chain is not None:
            weight += 0 if chain.tree else _steps(met, way, chain) * chain.each - chain.extra
        elif passing is not None and not passing.tree:
            weight += _steps(met, way, passing) * passing.each
        moves = tuple((n, c) for n, c in zip(met.common, way.copies, strict=True) if c != 0)
        graph.edges.append(Edge(store.index, load.index, weight, distance, pair, met.exact and not guarded, moves))


def _steps(met: Meetings, way: Meeting, chain: Chain) -> int:
    """How many links of a chain lie between the copy that reads and the one that has written."""
    if chain.loop not in met.common:
        return chain.links - 1
    difference = way.copies[met.common.index(chain.loop)]
    if difference is None:
        return chain.links - 1
    return max(0, min(chain.links - 1, -difference // chain.step))


# -- calls -------------------------------------------------------------------------------------------------


def _calls(graph: Graph) -> list[Edge]:
    """A call keeps its place among everything that uses an array that it is given, now and in later iterations."""
    region = graph.region
    found: list[Edge] = []
    for call in [node for node in region.nodes if node.kind == "call"]:
        for node in region.nodes:
            conflict = _conflict(call, node)
            if conflict is None:
                continue
            label, first_writes, second_writes = conflict
            if node.position > call.position:
                found.append(Edge(call.index, node.index, call.latency * graph.cycle))
            elif node.position < call.position and node.kind != "call":
                found.append(Edge(node.index, call.index, node.latency * graph.cycle))
            if not region.time or label in _renewed(region, call):
                continue
            if first_writes:
                found.append(Edge(call.index, node.index, call.latency * graph.cycle, 1))
            if second_writes and node is not call and node.kind != "call":
                found.append(Edge(node.index, call.index, node.latency * graph.cycle, 1))
    return found


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
