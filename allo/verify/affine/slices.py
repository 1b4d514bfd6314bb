"""Slices of words: the values that their bits come from, so that elements packed into words can be followed.

The bits `lo` to `lo + width - 1` of a word are a node whose last dimension is `lo`. Through `allo.set_slice` they are
bits of the value put in or of the word before, whichever `lo` says.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import islpy as isl
from mlir import ir

from ...poly.linear import Linear, Row, variable
from .nodes import Kind, ValueNode

if TYPE_CHECKING:
    from .graph import ComputationGraph

_IN, _OUT = isl.dim_type.in_, isl.dim_type.out
type Origins = list[tuple[ValueNode, isl.Map]]


def slice_origins(graph: ComputationGraph, node: ValueNode, of_base: Origins) -> Origins:
    """Where a slice of a word comes from; `of_base` are the origins of the word, if it is a read."""
    base = node.base
    if base is None:  # the operation itself: now its lowest bit is a dimension
        word, _, low = node.operands
        return [(graph.part(word, node.width), _with_offset(graph, node.depth, word.depth, low, 1))]
    depth = base.depth
    if base.kind is Kind.READ:
        return [(graph.part(one, node.width), _keeping_offset(graph, relation)) for one, relation in of_base]
    if base.kind is Kind.CHOICE:
        assert base.cases is not None
        found: Origins = []
        for case, operand in zip(base.cases, base.operands, strict=True):
            through = _keeping_offset(graph, _outer(graph, depth, operand.depth).intersect_domain(case))
            found.append((graph.part(operand, node.width), through))
        return found
    return _through_set_slice(graph, base, node.width)


def _through_set_slice(graph: ComputationGraph, base: ValueNode, width: int) -> Origins:
    word, _, low, value = base.operands
    given = base.width
    low_form, rows = _form(low)
    offset = variable(-1)
    inside = [[Row(offset - low_form), Row((low_form - offset).plus(given - width))]]
    outside = [[Row((low_form - offset).plus(-width))], [Row((offset - low_form).plus(-given))]]
    overlap = [
        [Row((low_form - offset).plus(-1)), Row((offset - low_form).plus(width - 1))],
        [Row((offset - low_form).plus(width - given - 1)), Row((low_form - offset).plus(given - 1))],
    ]
    domains = [_domain(graph, low, base.depth, rows, cases) for cases in (inside, outside, overlap)]
    found: Origins = []
    if width <= given:
        if width == given:
            found.append((value, _dropping_offset(graph, base.depth).intersect_domain(domains[0])))
        else:
            moved = _with_offset(graph, base.depth, value.depth, low, -1)
            found.append((graph.part(value, width), moved.intersect_domain(domains[0])))
    kept = _keeping_offset(graph, _outer(graph, base.depth, word.depth))
    found.append((graph.part(word, width), kept.intersect_domain(domains[1])))
    found.append((graph.opaque("bits of two values", base), kept.intersect_domain(domains[2])))
    return found


def slice_width(graph: ComputationGraph, op: ir.Operation, operands: tuple[ValueNode, ...]) -> int:
    """How many bits `allo.get_slice` takes or `allo.set_slice` puts in; 0 if it varies or is not the type's."""
    if op.name not in ("allo.get_slice", "allo.set_slice"):
        return 0
    kind = op.results[0].type if op.name == "allo.get_slice" else op.operands[3].type
    high, low = operands[1], operands[2]
    if high.kind is not Kind.INDEX or low.kind is not Kind.INDEX or not isinstance(kind, ir.IntegerType):
        return 0
    high_form, rows = _form(high)
    low_form, others = _form(low)
    outer, inner = (high, low) if high.depth >= low.depth else (low, high)
    columns = (*outer.variables, *inner.variables[outer.depth :])
    difference = (high_form - low_form).plus(-kind.width)
    for wrong in (difference.plus(-1), difference.scaled(-1).plus(-1)):
        if not graph.relations.system(columns, [*rows, *others, Row(wrong)]).is_empty():
            return 0
    return int(kind.width)


def _form(node: ValueNode) -> tuple[Linear, tuple[Row, ...]]:
    assert node.form is not None and node.terms is not None
    return node.form, node.terms.rows()


def _columns(node: ValueNode, depth: int) -> tuple[int, ...]:
    return (*node.variables[:depth], *(-100 - k for k in range(depth - len(node.variables))))


def _domain(
    graph: ComputationGraph, low: ValueNode, depth: int, rows: tuple[Row, ...], cases: list[list[Row]]
) -> isl.Set:
    """{ [iteration, offset] } where one of the cases holds."""
    columns = (*_columns(low, depth), -1)
    result = isl.Set.empty(graph.relations.set_space(depth + 1))
    for case in cases:
        one = graph.relations.system(columns, [*rows, *case])
        result = result.union(isl.Set.from_basic_set(one))
    return result


def _with_offset(graph: ComputationGraph, depth: int, kept: int, low: ValueNode, sign: int) -> isl.Map:
    """{ [iteration] -> [outer iteration, low] } or { [iteration, offset] -> [outer iteration, offset - low] }."""
    form, rows = _form(low)
    iteration = _columns(low, depth)
    inputs = iteration if sign > 0 else (*iteration, -1)
    outputs = tuple(-200 - k for k in range(kept + 1))
    equal = [Row(variable(o) - variable(i), True) for o, i in zip(outputs, iteration, strict=False)][:kept]
    value = form if sign > 0 else variable(-1) - form
    last = Row(variable(outputs[kept]) - value, True)
    return graph.relations.relation(inputs, outputs, [*rows, *equal, last])


def _outer(graph: ComputationGraph, depth: int, kept: int) -> isl.Map:
    """{ [iteration] -> [its first dimensions] }"""
    whole = graph.relations.identity(depth)
    return whole.project_out(_OUT, kept, depth - kept)


def _keeping_offset(graph: ComputationGraph, relation: isl.Map) -> isl.Map:
    """{ [x, offset] -> [y, offset] } for { x -> y }."""
    return relation.flat_product(graph.relations.identity(1))


def _dropping_offset(graph: ComputationGraph, depth: int) -> isl.Map:
    whole = graph.relations.identity(depth + 1)
    return whole.project_out(_OUT, depth, 1)
