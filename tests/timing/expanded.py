"""A slow model to compare with: every copy of a body is a node, dependences are found by running all iterations."""

from __future__ import annotations

from itertools import product

from allo.timing.interval.circulation import Circulation
from allo.timing.interval.recurrence import recurrence_of
from allo.timing.problem.dependences import graph_of
from allo.timing.problem.graph import Edge
from allo.timing.problem.region import LoopBody, RegionNode


def copies_of(region: LoopBody, node: RegionNode) -> list[tuple[int, ...]]:
    """The values of the unrolled loops around a node."""
    return list(product(*(range(region.copy_loops[number].trip) for number in node.around)))


def element(region: LoopBody, node: RegionNode, time: tuple[int, ...], copy: tuple[int, ...]) -> tuple[object, ...]:
    """The element that an access touches, relative to what is fixed during the loop."""
    values = dict(zip(node.around, copy, strict=True))
    found: list[object] = []
    for form in node.forms:
        assert form is not None
        moved = sum(c * t for c, t in zip(form.time, time, strict=True))
        found.append((form.constant + moved + sum(c * values[n] for n, c in form.copies), form.other))
    return tuple(found)


def recurrence_interval(region: LoopBody, cycle: int, *, overwriting: bool = True) -> int:
    """The least interval by the values that iterations really pass on, found by executing all of them.

    A value is read before it is overwritten, and writes of an element stay in order, a cycle apart. Of the
    writes of an element in one iteration the last one remains: what reads the others gets their values without memory.
    """
    numbers: dict[tuple[int, tuple[int, ...]], int] = {}
    for node in region.nodes:
        for copy in copies_of(region, node):
            numbers[node.index, copy] = len(numbers)
    edges: dict[tuple[int, int, int, bool], int] = {}
    last: dict[tuple[object, ...], tuple[int, RegionNode, int]] = {}
    written: dict[tuple[object, ...], tuple[int, int]] = {}
    readers: dict[tuple[object, ...], list[tuple[int, int]]] = {}
    for iteration, time in enumerate(product(*(range(loop.trip or 1) for loop in region.time))):
        uses = [
            (node, copy, (node.label, *element(region, node, time, copy)))
            for node, copy in _in_order(region)
            if node.memory is not None
        ]
        kept = {key: position for position, (node, _, key) in enumerate(uses) if node.kind == "write"}
        for position, (node, copy, key) in enumerate(uses):
            here = numbers[node.index, copy]
            if node.kind == "write":
                last[key] = (here, node, iteration)
                if kept[key] != position:
                    continue
                for there, before in readers.pop(key, ()):
                    edges[there, here, iteration - before, True] = 0
                if key in written and not (node.in_register or node.memory.is_register):
                    there, before = written[key]
                    edges[there, here, iteration - before, True] = cycle
                written[key] = (here, iteration)
                continue
            if key in last:
                there, store, before = last[key]
                edges[there, here, iteration - before, False] = 0 if before == iteration else store.latency * cycle
                if before == iteration:
                    continue  # the value is not read from the memory
            readers.setdefault(key, []).append((here, iteration))
    kept_edges = {key: weight for key, weight in edges.items() if overwriting or not key[3]}
    return _critical(region, cycle, numbers, kept_edges)


def _in_order(region: LoopBody) -> list[tuple[RegionNode, tuple[int, ...]]]:
    """All copies of all nodes in the order in which the program runs them."""
    found = []
    for node in region.nodes:
        for copy in copies_of(region, node):
            key: list[int] = []
            for place, value in zip(node.position, (*copy, 0), strict=True):
                key += [place, value]
            found.append((tuple(key), node, copy))
    return [(node, copy) for _, node, copy in sorted(found, key=lambda item: item[0])]


def _critical(
    region: LoopBody,
    cycle: int,
    numbers: dict[tuple[int, tuple[int, ...]], int],
    edges: dict[tuple[int, int, int, bool], int],
) -> int:
    """The critical cycle among all copies."""
    arrives = {sink for _, sink, distance, order in edges if distance == 0 and not order}
    found: list[Edge] = []
    for (index, copy), number in numbers.items():
        for source in region.inputs[index]:
            there = numbers[source, copy[: len(region.nodes[source].around)]]
            latency = region.nodes[source].latency
            memory = region.nodes[source].memory
            if memory is not None:
                latency = 0 if there in arrives or region.nodes[source].in_register else memory.read
            found.append(Edge(there, number, latency * cycle + region.nodes[source].delay))
    found += [Edge(a, b, weight, distance, order=order) for (a, b, distance, order), weight in edges.items()]
    demand = Circulation(dict.fromkeys(numbers.values(), 1), found, cycle).demand(1)
    return demand.interval if demand is not None else 1


def symbolic_interval(region: LoopBody, cycle: int) -> int:
    """The interval that the estimator finds without copies."""
    found = recurrence_of(graph_of(region, cycle, {}), 1)
    return found.interval if found is not None else 1
