"""All memory-based dependences of a function or of one loop, as isl maps between iterations."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import islpy as isl
from mlir import ir

from .linear import PRIME
from .model import Access, Model
from .pairs import Dependence, Pair, execution_orders, pairs
from .systems import basic_map, named_space


@dataclass(frozen=True, slots=True)
class Relation:
    """`map` takes the iterations of `source` to the later ones of `sink` that touch the same element.

    If not `exact`, the map is an over-approximation.
    """

    kind: Dependence
    source: Access
    sink: Access
    map: isl.Map
    exact: bool


def dependences(model: Model, within: ir.Operation | ir.OpView | None = None) -> tuple[Relation, ...]:
    """Every dependence that is not empty: all, or those within one iteration of the loops around `within`."""
    loop = None if within is None else model.loop(within)
    accesses = model.accesses if loop is None else tuple(model.inside(loop))
    depth = 0 if loop is None else loop.depth
    found = []
    for pair in pairs(accesses):
        relation = _relation(pair, depth)
        if relation is not None:
            found.append(Relation(pair.dependence, pair.source, pair.sink, relation, pair.exact))
    return tuple(found)


def union(relations: Iterable[Relation]) -> isl.UnionMap:
    result = isl.UnionMap.read_from_str(isl.DEFAULT_CONTEXT, "{}")
    for relation in relations:
        result = result.union(isl.UnionMap.from_map(relation.map))
    return result


def _relation(pair: Pair, depth: int) -> isl.Map | None:
    source, sink = pair.source, pair.sink
    parameters = tuple(parameter.variable for parameter in source.parameters)
    inputs, outputs = source.variables, tuple(v + PRIME for v in sink.variables)
    space: isl.Space | None = None
    result: isl.Map | None = None
    for signs in execution_orders(pair, pair.common[depth:]):
        for rows in pair.systems(signs):
            if space is None:
                names = tuple(parameter.name for parameter in source.parameters)
                primed = [f"{name}'" for name in sink.loop_names]
                space = named_space(names, source.loop_names, source.id, primed, sink.id)
            piece = isl.Map.from_basic_map(basic_map(parameters, inputs, outputs, rows, space))
            if not piece.is_empty():
                result = piece if result is None else result.union(piece)
    return result
