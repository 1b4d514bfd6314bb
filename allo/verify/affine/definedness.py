"""Decides whether a value may depend on an element that nothing has written."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import islpy as isl

from .nodes import Kind, Node

_SET = isl.dim_type.set
_EXACT_VISITS = 3  # of a node, before all of its iterations are looked at


def may_be_undefined(
    origins: Callable[[Node], Sequence[tuple[Node, isl.Map]]], node: Node, points: isl.Set
) -> bool:
    """Whether that cannot be excluded for the value of a node in some iterations; `origins` are those of reads."""
    reached: dict[Node, isl.Set] = {}
    visits: dict[Node, int] = {}
    waiting = [(node, points)]
    while waiting:
        one, at = waiting.pop()
        at = at.project_out(_SET, one.depth, at.dim(_SET) - one.depth)
        if at.is_empty() or (one in reached and at.is_subset(reached[one])):
            continue
        visits[one] = visits.get(one, 0) + 1
        if visits[one] > _EXACT_VISITS:
            at = isl.Set.universe(at.get_space())
        reached[one] = at = at.union(reached[one]).coalesce() if one in reached else at
        if one.kind in (Kind.UNDEFINED, Kind.PART, Kind.OPAQUE):
            return True
        if one.kind is Kind.READ:
            waiting += [(other, at.apply(through)) for other, through in origins(one)]
        elif one.kind is Kind.CHOICE and one.cases is not None:
            waiting += [(x, at.intersect(case)) for case, x in zip(one.cases, one.operands, strict=True)]
        else:
            waiting += [(operand, at) for operand in one.operands]
    return False
