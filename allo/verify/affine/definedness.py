"""Definedness of values: whether they may depend on elements that nothing has written, and what these may be taken
to be."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import islpy as isl

from .nodes import Kind, ValueNode

_IN, _OUT, _SET = isl.dim_type.in_, isl.dim_type.out, isl.dim_type.set
_EXACT_VISITS = 3  # of a node, before all of its iterations are looked at

type _Origins = Callable[[ValueNode], Sequence[tuple[ValueNode, isl.Map]]]
type Chosen = tuple[
    ValueNode, ValueNode, isl.Map
]  # an undefined element, the value that it was taken to have, and where


def may_be_undefined(origins: _Origins, node: ValueNode, points: isl.Set) -> bool:
    """Whether that cannot be excluded for the value of a node in some iterations; `origins` are those of reads."""
    return defined_by(origins, node, points) is None


def defined_by(origins: _Origins, node: ValueNode, points: isl.Set) -> dict[ValueNode, isl.Set] | None:
    """What the value of a node depends on in some iterations, perhaps more; None if a part may be undefined."""
    reached: dict[ValueNode, isl.Set] = {}
    visits: dict[ValueNode, int] = {}
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
            return None
        if one.kind is Kind.READ:
            waiting += [(other, at.apply(through)) for other, through in origins(one)]
        elif one.kind is Kind.CHOICE and one.cases is not None:
            waiting += [(x, at.intersect(case)) for case, x in zip(one.cases, one.operands, strict=True)]
        else:
            waiting += [(operand, at) for operand in one.operands]
    return reached


def are_one_choice(chosen: Iterable[Chosen]) -> bool:
    """Whether each undefined element was taken to have one value only: `t - t` is 0, whatever `t` is."""
    known: dict[ValueNode, tuple[ValueNode, isl.Map]] = {}
    for a, b, relation in chosen:
        own = relation.project_out(_IN, a.depth, relation.dim(_IN) - a.depth)
        own = own.project_out(_OUT, b.depth, own.dim(_OUT) - b.depth)
        partner, before = known.get(a, (b, own))
        known[a] = partner, before.union(own)
        if partner is not b or not known[a][1].is_single_valued():
            return False
    return True
