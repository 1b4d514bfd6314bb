"""Decides whether two sums (products, minima, maxima) have the same terms, in whatever order they are added up.

A recurrence `s = s + t` is unrolled at once: by the closure of its step, all terms of a sum are indexed by the
iterations that add them. Two sums are equal if a one-to-one relation between these indices, found by the elements of
inputs that the terms read, relates equal terms. Integers wrap, so their order never matters; that of floats does.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import islpy as isl

from ...poly.linear import Linear
from .flow import Flows
from .nodes import Kind, Node

_IN, _OUT = isl.dim_type.in_, isl.dim_type.out
_EXACT = frozenset(f"arith.{n}" for n in ("addi", "muli", "andi", "ori", "xori", "maxsi", "minsi", "maxui", "minui"))
_ROUNDED = frozenset({"arith.addf", "arith.mulf", "arith.maximumf", "arith.minimumf"})
_WRAPPING = frozenset({"arith.addi", "arith.muli", "arith.andi", "arith.ori", "arith.xori"})
_MOST_LEAVES = 64


class NoSum(Exception):
    """Not a sum whose terms can be told."""


@dataclass(frozen=True, slots=True)
class _Term:
    """`index` takes an iteration of the sum to those that add a value of `node`, `value` these to its iteration."""

    node: Node
    index: isl.Map
    value: isl.Map


def is_sum(node: Node, reassociate: bool) -> bool:
    """Whether the terms of a node may be taken in another order, perhaps under a cut to fewer bits."""
    name = node.signature[0] if node.kind is Kind.OPERATION else ""
    if name == "arith.trunci":
        inner = node.operands[0]
        return inner.kind is Kind.OPERATION and inner.signature[0] in _WRAPPING
    return name in _EXACT or (reassociate and name in _ROUNDED)


def same_terms(
    left: Flows, right: Flows, a: Node, b: Node, relation: isl.Map, equal: Callable[[Node, Node, isl.Map], bool]
) -> bool:
    """Whether related iterations of two sums have equal terms; `equal` is asked for single terms."""
    try:
        first, second = _Sum(left, a), _Sum(right, b)
        if first.operation != second.operation or first.width != second.width:
            return False
        start = relation.project_out(_IN, a.depth, relation.dim(_IN) - a.depth)
        start = start.project_out(_OUT, b.depth, start.dim(_OUT) - b.depth)
        return _matched(left, right, first.terms(a), second.terms(b), start, equal)
    except NoSum:
        return False


class _Sum:
    """One side: the operation, and the width modulo which it is taken."""

    def __init__(self, flows: Flows, node: Node) -> None:
        self.flows = flows
        self.operation = (node.operands[0] if node.signature[0] == "arith.trunci" else node).signature[0]
        self.width = _width(_result(node)) if self.operation in _WRAPPING else 0

    def terms(self, node: Node) -> list[_Term]:
        found: list[_Term] = []
        same = isl.Map.identity(self.flows.graph.map_space(node.depth, node.depth))
        for one, relation in self._resolved(node, same):
            if self._adds(one):
                inner, pending = self._unrolled(one, ())
                if pending or not relation.is_injective():
                    raise NoSum
                found += [_Term(t.node, relation.apply_range(t.index), t.value) for t in inner]
            else:
                found.append(_Term(one, same.intersect_domain(relation.domain()), relation))
        return found

    def _adds(self, node: Node) -> bool:
        return node.kind is Kind.OPERATION and node.signature[0] == self.operation

    def _resolved(self, node: Node, relation: isl.Map) -> list[tuple[Node, isl.Map]]:
        """What is no copy, cut or extension, and at which of its iterations."""
        found: list[tuple[Node, isl.Map]] = []
        waiting = [(node, relation)]
        for _ in range(_MOST_LEAVES):
            if not waiting:
                return found
            one, through = waiting.pop()
            if through.is_empty():
                continue
            through = through.project_out(_OUT, one.depth, through.dim(_OUT) - one.depth)
            if one.kind is Kind.READ:
                waiting += [(o.node, through.apply_range(o.map)) for o in self.flows.origins(one)]
            elif one.kind is Kind.CHOICE and one.cases is not None:
                cases = zip(one.cases, one.operands, strict=True)
                waiting += [(operand, through.intersect_range(case)) for case, operand in cases]
            elif self._is_neutral(one):
                continue
            elif self._keeps_low_bits(one):
                waiting.append((one.operands[0], through))
            else:
                found.append((one, through))
        raise NoSum

    def _is_neutral(self, node: Node) -> bool:
        """Whether a term is a zero that is added; that of floats would change a negative zero."""
        if self.operation not in ("arith.addi", "arith.ori", "arith.xori"):
            return False
        if node.kind is Kind.INDEX:
            return node.form == Linear(0)
        is_constant = node.kind is Kind.OPERATION and node.signature[0] == "arith.constant"
        return is_constant and any(part.startswith(("value=0 :", "value=false")) for part in node.signature)

    def _keeps_low_bits(self, node: Node) -> bool:
        """Whether a cut or extension does not change the bits that count."""
        if not self.width or node.kind is not Kind.OPERATION:
            return False
        name = node.signature[0]
        if name == "arith.trunci":
            return _width(_result(node)) >= self.width
        return name in ("arith.extsi", "arith.extui") and _width(node.signature[2]) >= self.width

    def _unrolled(self, node: Node, around: tuple[Node, ...]) -> tuple[list[_Term], list[tuple[Node, isl.Map]]]:
        """All terms of a sum by its own iterations, and where it goes on with one of the sums `around` it."""
        same = isl.Map.identity(self.flows.graph.map_space(node.depth, node.depth))
        terms: list[_Term] = []
        steps: list[isl.Map] = []
        pending: list[tuple[Node, isl.Map]] = []
        for operand in node.operands:
            for one, relation in self._resolved(operand, same):
                if one is node:
                    steps.append(relation)
                elif one in around:
                    pending.append((one, relation))
                elif self._adds(one):
                    inner, open_ends = self._unrolled(one, (*around, node))
                    if not relation.is_injective():
                        raise NoSum
                    terms += [_Term(t.node, relation.apply_range(t.index), t.value) for t in inner]
                    for other, onwards in open_ends:
                        (steps if other is node else []).append(relation.apply_range(onwards))
                        pending += [] if other is node else [(other, relation.apply_range(onwards))]
                else:
                    terms.append(_Term(one, same.intersect_domain(relation.domain()), relation))
        if not steps:
            return terms, pending
        all_steps = self._closure(node, steps)
        closed = [_Term(t.node, all_steps.apply_range(t.index), t.value) for t in terms]
        return closed, [(other, all_steps.apply_range(relation)) for other, relation in pending]

    def _closure(self, node: Node, steps: Sequence[isl.Map]) -> isl.Map:
        """{ iteration -> itself and all that its recurrence goes through }, shown to be that."""
        step = steps[0]
        for one in steps[1:]:
            step = step.union(one)
        step = step.coalesce()
        domain = self.flows.graph.iterations(node)
        if domain is None or not step.is_single_valued():
            raise NoSum
        step = step.intersect_domain(domain)
        if any(not s.domain().is_disjoint(t.domain()) for k, s in enumerate(steps) for t in steps[:k]):
            raise NoSum  # both operands go on with the same sum
        here = isl.Map.identity(step.get_space()).intersect_domain(domain)
        back = isl.Map.lex_ge(domain.get_space()).intersect_domain(domain).intersect_range(domain)
        for d in range(node.depth):
            if step.is_subset(step.equate(_IN, d, _OUT, d)):
                back = back.equate(_IN, d, _OUT, d)
        decreasing = step.is_subset(isl.Map.lex_gt(domain.get_space())) and step.range().is_subset(domain)
        for guess in (back, step.transitive_closure()[0].union(here)):
            if decreasing and guess.is_equal(here.union(step.apply_range(guess))):
                return guess
        raise NoSum


def _result(node: Node) -> str:
    return node.signature[node.signature.index("->") + 1]


def _width(kind: str) -> int:
    return int(kind[1:]) if kind[:1] == "i" and kind[1:].isdigit() else 0


type _Key = list[tuple[tuple[str, ...], isl.Map]]


def _matched(
    left: Flows,
    right: Flows,
    first: list[_Term],
    second: list[_Term],
    relation: isl.Map,
    equal: Callable[[Node, Node, isl.Map], bool],
) -> bool:
    ones = [(t, relation.domain_map().apply_range(t.index), _key(left, t)) for t in first]
    others = [(t, relation.range_map().apply_range(t.index), _key(right, t)) for t in second]
    for k, (one, open_ones, key) in enumerate(ones):
        for m, (other, open_others, also) in enumerate(others):
            if open_ones.is_empty() or open_others.is_empty() or not _comparable(key, also):
                continue
            same = open_ones.reverse().apply_range(open_others)  # { index -> index' } for some pair
            for (_, x), (_, y) in zip(key, also, strict=True):
                same = same.intersect(x.apply_range(y.reverse()))
            both = open_ones.range_product(open_others).intersect_range(same.wrap())
            matched = both.uncurry()  # { [pair -> index] -> index' }
            if matched.is_empty():
                continue
            mutual = open_ones.domain_map().intersect_domain(matched.domain()).range_product(matched)
            values = one.value.reverse().apply_range(both.range().unwrap()).apply_range(other.value)
            if not mutual.is_bijective() or not equal(one.node, other.node, values):
                continue
            open_ones = open_ones.subtract(matched.domain().unwrap())
            others[m] = (other, open_others.subtract(mutual.range().unwrap()), also)
        ones[k] = (one, open_ones, key)
    return all(rest.is_empty() for _, rest, _ in [*ones, *others])


def _comparable(key: _Key, also: _Key) -> bool:
    return [signature for signature, _ in key] == [signature for signature, _ in also]


def _key(flows: Flows, term: _Term) -> _Key:
    """Which elements of inputs a term reads, as maps from its index."""
    found: _Key = []
    waiting: list[tuple[Node, isl.Map]] = [(term.node, term.value)]
    for _ in range(_MOST_LEAVES):
        if not waiting:
            break
        node, relation = waiting.pop(0)
        relation = relation.project_out(_OUT, node.depth, relation.dim(_OUT) - node.depth)
        if node.kind is Kind.READ:
            origins = flows.origins(node)
            if len(origins) == 1:
                waiting.append((origins[0].node, relation.apply_range(origins[0].map)))
        elif node.kind is Kind.INPUT:
            found.append((node.signature, relation))
        elif node.kind is Kind.OPERATION:
            waiting += [(operand, relation) for operand in node.operands]
    return sorted(found, key=lambda pair: pair[0])
