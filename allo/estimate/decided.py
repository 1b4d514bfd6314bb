"""Decides which recurrences of a loop exist: where arithmetic on subscripts is unsure, integer programs do."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import lcm

from ..poly.linear import PRIME, Linear, Row
from ..poly.pairs import Pair, Signs, pair_of
from ..poly.systems import feasible, least
from .graph import Edge, Graph
from .recurrence import Recurrence, between_copies, critical
from .region import Region


def recurrence_of(graph: Graph, requested: int) -> Recurrence | None:
    """The recurrence that demands the largest interval, if that is more than requested."""
    found = _existing(graph, requested, lambda: critical(graph))
    enough = max(requested, found.interval if found is not None else 1)
    return _existing(graph, enough, lambda: between_copies(graph, enough)) or found


def _existing(graph: Graph, enough: int, search: Callable[[], Recurrence | None]) -> Recurrence | None:
    """What a search finds, without edges that the polyhedral model does not know."""
    while True:
        found = search()
        if found is None or found.interval <= enough:
            return found
        doubtful = [edge for edge in found.edges if not edge.exact and edge.pair is not None]
        if not doubtful:
            return found
        for edge in {id(edge): edge for edge in doubtful}.values():
            decide(graph, edge)


def decide(graph: Graph, edge: Edge) -> None:
    """Give an edge its exact distance and moves, or take it away."""
    assert edge.pair is not None
    edge.exact = True
    if not (edge.pair[0].exact_elements and edge.pair[1].exact_elements):
        return
    pair = pair_of(*edge.pair)
    systems = [] if pair is None else _systems(graph.region, pair, edge)
    if not systems:
        graph.edges = [other for other in graph.edges if other is not edge]
        graph.copies = [other for other in graph.copies if other is not edge]
        return
    if edge.distance:
        edge.distance = max(edge.distance, min(_least_distance(graph.region, rows) for rows in systems))
    edge.ranges = tuple(_range(graph.region, move, systems) for move in edge.ranges)


def _systems(region: Region, pair: Pair, edge: Edge) -> list[list[Row]]:
    """The systems of which one holds for the two accesses of an edge."""
    known = {loop.variable for loop in pair.common}
    inside = {loop.variable for loop in region.time} | {loop.variable for loop in region.copy_loops}
    outer: Signs = {loop.variable: 0 for loop in pair.common if loop.variable not in inside}
    alternatives = [outer]
    if edge.distance:
        alternatives = [
            {**outer, loop.variable: 1} | {before.variable: 0 for before in region.time[:level]}
            for level, loop in enumerate(region.time)
        ]
    elif all(loop.factor == 1 for loop in region.time):
        alternatives = [{**outer} | {loop.variable: 0 for loop in region.time}]
    moves: list[Row] = []
    for number, low, high in edge.ranges:
        loop = region.copy_loops[number]
        if loop.variable in known:
            difference = _difference(loop.variable, 1)
            moves += [Row(difference.plus(-low * loop.step)), Row(difference.scaled(-1).plus(high * loop.step))]
    return [
        [*rows, *moves]
        for signs in alternatives
        if pair.allows(signs)
        for rows in pair.systems(signs)
        if feasible([*rows, *moves])
    ]


def _least_distance(region: Region, rows: Sequence[Row]) -> int:
    """The least number of iterations between two accesses, at least 1."""
    unit = lcm(*(loop.step * loop.factor for loop in region.time))
    total = Linear(0)
    for loop in region.time:
        share = loop.stride * unit // (loop.step * loop.factor)
        # Of the copies of an iteration the first may depend on the last of an earlier one.
        total += _difference(loop.variable, share).plus(-share * loop.step * (loop.factor - 1))
    value = least(total, rows)
    return 1 if value is None else max(1, -(-value // unit))


def _range(region: Region, move: tuple[int, int, int], systems: Sequence[Sequence[Row]]) -> tuple[int, int, int]:
    """The moves in an unrolled loop that the systems allow."""
    number, low, high = move
    loop = region.copy_loops[number]
    difference = _difference(loop.variable, 1)
    if low == high or not any(
        v == loop.variable + PRIME for rows in systems for row in rows for v, _ in row.form.terms
    ):
        return move
    lowest = [least(difference, rows) for rows in systems]
    highest = [least(difference.scaled(-1), rows) for rows in systems]
    first = min(low * loop.step if value is None else value for value in lowest)
    last = max(high * loop.step if value is None else -value for value in highest)
    return number, max(low, -(-first // loop.step)), min(high, last // loop.step)


def _difference(variable: int, factor: int) -> Linear:
    """How much later the second of two instances is in a loop."""
    return Linear(0, ((variable, -factor), (variable + PRIME, factor)))
