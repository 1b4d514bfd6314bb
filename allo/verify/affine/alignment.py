"""Alignment of sums: pairs of terms in the order of how many others agree with them about related iterations.

Terms of stencils are values of earlier iterations of one statement, on both sides. A pair of terms then says which of
these iterations correspond; pairs of equal terms say the same, and others differ from one to the next.
"""

from __future__ import annotations

from collections.abc import Sequence

import islpy as isl

from .expansion import State
from .flow import Flows
from .nodes import Kind, ValueNode

_OUT = isl.dim_type.out
_MOST_COPIES = 60
_FEWEST = 3  # terms of which it is worth the work

class NotAligned(Exception):
    """Terms of which it cannot be guessed which ones are equal."""


type Terms = Sequence[tuple[State, isl.Map]]
type _Places = dict[ValueNode, isl.Map]


def agreeing(left: Flows, right: Flows, ones: Terms, others: Terms) -> list[tuple[int, int]]:
    """All pairs of terms by number, those first that agree with most others about related iterations."""
    pairs = [(k, m) for k in range(len(ones)) for m in range(len(others))]
    if not can_align(ones, others):
        return pairs
    first = [_computed(left, state, points) for state, points in ones]
    second = [_computed(right, state, points) for state, points in others]
    groups: list[tuple[isl.BasicMap, list[tuple[int, int]]]] = []
    for k, m in pairs:
        for hull in _hulls(first[k], second[m]):
            group = next((group for known, group in groups if _same(known, hull)), None)
            if group is None:
                groups.append((hull, [(k, m)]))
            else:
                group.append((k, m))
    votes = {pair: 0 for pair in pairs}
    for _, group in groups:
        for pair in group:
            votes[pair] = max(votes[pair], len(group))
    return sorted(pairs, key=lambda pair: -votes[pair])


def can_align(ones: Terms, others: Terms) -> bool:
    """Whether there are as many terms on both sides, and enough, each of a single factor."""
    single = all(len(state.factors) == 1 for state, _ in (*ones, *others))
    return single and len(ones) == len(others) >= _FEWEST


def _same(one: isl.BasicMap, other: isl.BasicMap) -> bool:
    return bool(one.get_space().is_equal(other.get_space()) and one.is_equal(other))


def _hulls(first: _Places, second: _Places) -> list[isl.BasicMap]:
    found = []
    for one, x in first.items():
        for other, y in second.items():
            if one.signature == other.signature:
                between = x.reverse().apply_range(y)
                if not between.is_empty():
                    found.append(between.affine_hull())
    return found


def _computed(flows: Flows, state: State, points: isl.Map) -> _Places:
    """{ iteration of the sum -> iteration of the operation that computes the term }, for each operation."""
    found: _Places = {}
    waiting: list[tuple[ValueNode, isl.Map]] = [(state.factors[0].node, points)]
    for _ in range(_MOST_COPIES):
        if not waiting:
            break
        node, through = waiting.pop(0)
        through = through.project_out(_OUT, node.depth, through.dim(_OUT) - node.depth)
        if node.kind is Kind.READ:
            parts = [(origin.node, through.apply_range(origin.map)) for origin in flows.origins(node)]
            waiting += [(other, image) for other, image in parts if not image.is_empty()]
        elif node.kind is Kind.CHOICE and node.cases is not None:
            cases = zip(node.cases, node.operands, strict=True)
            parts = [(operand, through.intersect_range(case)) for case, operand in cases]
            waiting += [(other, image) for other, image in parts if not image.is_empty()]
        elif node.kind is Kind.OPERATION:
            found[node] = found[node].union(through) if node in found else through
    return found
