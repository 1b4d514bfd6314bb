"""Affine conditions of selects: comparisons by which the iterations are split."""

from __future__ import annotations

from typing import TYPE_CHECKING

import islpy as isl
from mlir import ir

from ...poly.linear import Linear, Row

if TYPE_CHECKING:
    from .graph import ComputationGraph

type _Rows = list[tuple[int, int, bool]]
_EQ: _Rows = [(1, 0, True)]
_NE: _Rows = [(1, -1, False), (-1, -1, False)]
_LT: _Rows = [(-1, -1, False)]
_LE: _Rows = [(-1, 0, False)]
_GT: _Rows = [(1, -1, False)]
_GE: _Rows = [(1, 0, False)]
# The predicates of arith.cmpi on signed values: eq, ne, slt, sle, sgt, sge.
_COMPARISONS: dict[int, tuple[_Rows, _Rows]] = {
    0: (_EQ, _NE),
    1: (_NE, _EQ),
    2: (_LT, _GE),
    3: (_LE, _GT),
    4: (_GT, _LE),
    5: (_GE, _LT),
}


def cases_of(graph: ComputationGraph, condition: ir.Value) -> tuple[isl.Set, isl.Set] | None:
    """Where a truth value holds and where not, if it is a comparison of affine values."""
    owner = condition.owner
    if isinstance(owner, ir.Block) or owner.operation.name != "arith.cmpi":
        return None
    op = owner.operation
    left, right = (_exact(graph, operand, op.block) for operand in op.operands)
    if left is None or right is None:
        return None
    variables = graph.loops_around(op.block)
    difference = left[0] - right[0]
    quotients = (*left[1], *right[1])
    holds, fails = _COMPARISONS.get(ir.IntegerAttr(op.attributes["predicate"]).value, (None, None))
    if holds is None or fails is None:
        return None
    sets = [
        graph.relations.points(variables, [(*quotients, Row(difference.scaled(s).plus(c), e)) for s, c, e in rows])
        for rows in (holds, fails)
    ]
    return sets[0], sets[1]


def _exact(graph: ComputationGraph, value: ir.Value, block: ir.Block) -> tuple[Linear, tuple[Row, ...]] | None:
    """An integer as a linear form with the rows of its quotients; sums that may wrap have none."""
    node = graph.affine(value)
    if node is not None:
        assert node.form is not None and node.terms is not None
        return node.form, node.terms.rows()
    if isinstance(value.owner, ir.Block) or not isinstance(value.type, ir.IntegerType):
        return None
    op = value.owner.operation
    if op.name not in ("arith.addi", "arith.subi"):
        return None
    left, right = (_exact(graph, operand, block) for operand in op.operands)
    if left is None or right is None:
        return None
    form = left[0] + right[0] if op.name == "arith.addi" else left[0] - right[0]
    rows = (*left[1], *right[1])
    most = (1 << (value.type.width - 1)) - 1
    variables = graph.loops_around(block)
    points = graph.iterations_of(block)
    for outside in (form.plus(-most - 1), form.scaled(-1).plus(-most - 2)):
        wrong = graph.relations.points(variables, [(*rows, Row(outside))])
        if not wrong.is_disjoint(points):
            return None
    return form, rows
