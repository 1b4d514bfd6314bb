"""Chains of processing elements: arrays of streams by which each position hands on what the one before it has."""

from __future__ import annotations

from mlir import ir

from ...ir.access import access_map, base_of, moves_element, subscripts
from ...ir.walk import induction_variable
from ...poly.formula import compile_map, instantiate
from ...poly.linear import Linear, variable
from . import tree

type _Place = tuple[ir.Value, tuple[Linear | None, ...]]  # an array of streams, and subscripts


def handed_on(node: tree.Spatial) -> frozenset[ir.Value]:
    """The arrays of which each position takes elements that the one before it along the dimension puts there.

    Those of which that is not known are left out.
    """
    own, numbers = induction_variable(node.view.op), dict[ir.Value, int]()
    taken, put = set[_Place](), set[_Place]()
    regions = (part.region for part in tree.nodes(node.body) if isinstance(part, tree.Straight | tree.Pipeline))
    for use in (use for region in regions for use in region.graph.region.nodes):
        if use.memory is None or not moves_element(use.op):
            continue
        stream, is_get = use.op.operands[0], use.kind == "read"
        load = None if isinstance(stream.owner, ir.Block) else stream.owner.operation
        places = None if load is None else access_map(load)
        if load is None or places is None or (formula := compile_map(places)).quotients:
            continue
        values: list[Linear | None] = []
        for value in subscripts(load):
            form = variable(numbers.setdefault(value, len(numbers)))
            values.append(form.plus(1) if is_get and value == own else form)
        (taken if is_get else put).add((base_of(stream), tuple(instantiate(formula, values, []))))
    return frozenset(base for base, forms in taken & put if None not in forms)
