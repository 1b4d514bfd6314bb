"""Decides where a comparison of affine values holds, so that a select by it splits the iterations."""

from __future__ import annotations

from typing import TYPE_CHECKING

import islpy as isl
from mlir import ir

from ...poly.linear import Row
from ...poly.systems import set_of

if TYPE_CHECKING:
    from .graph import Graph

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


def cases_of(graph: Graph, condition: ir.Value) -> tuple[isl.Set, isl.Set] | None:
    """Where a truth value holds and where not, if it is a comparison of affine values."""
    owner = condition.owner
    if isinstance(owner, ir.Block) or owner.operation.name != "arith.cmpi":
        return None
    op = owner.operation
    sides = [graph.affine(operand) for operand in op.operands]
    if sides[0] is None or sides[1] is None:
        return None
    left, right = sides[0], sides[1]
    assert left.form is not None and right.form is not None and left.terms and right.terms
    variables = graph.loops_around(op.block)
    difference = left.form - right.form
    quotients = (*left.terms.rows(), *right.terms.rows())
    holds, fails = _COMPARISONS.get(ir.IntegerAttr(op.attributes["predicate"]).value, (None, None))
    if holds is None or fails is None:
        return None
    space = graph.set_space(len(variables))
    sets = [
        set_of(
            graph.parameters,
            variables,
            [(*quotients, Row(difference.scaled(s).plus(c), e)) for s, c, e in rows],
            space,
        )
        for rows in (holds, fails)
    ]
    return sets[0], sets[1]
