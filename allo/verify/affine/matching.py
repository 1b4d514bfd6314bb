"""Matching of the terms of two sums: a one-to-one relation between the iterations that add them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import islice, permutations

import islpy as isl

from .alignment import agreeing
from .expansion import Expansion, State
from .flow import Flows
from .nodes import Kind, ValueNode

_IN, _OUT, _SET = isl.dim_type.in_, isl.dim_type.out, isl.dim_type.set
_MOST_NODES = 64
_MOST_TRIES = 6  # orders of the factors of two products

type Equal = Callable[[ValueNode, ValueNode, isl.Map], bool]
type _Key = list[tuple[tuple[str, ...], isl.Map]]


@dataclass(frozen=True, slots=True)
class Match:
    """Terms of the left and of the right sum: factor `k` of the one is factor `order[k]` of the other.

    `map` is { iteration of the sums -> [iterations of the left factors -> those of the right ones] }.
    """

    left: State
    right: State
    order: tuple[int, ...]
    map: isl.Map


@dataclass(frozen=True, slots=True)
class _Term:
    state: State
    keys: tuple[_Key, ...]  # of each factor: which elements of inputs it reads
    places: tuple[_Key, ...]  # which elements of which argument the factors themselves are


@dataclass(slots=True)
class _Rest:
    """A term, and the iterations in which it has no partner yet."""

    term: _Term
    points: isl.Map


def matched(left: Expansion, right: Expansion, equal: Equal) -> tuple[list[Match], list[State], list[State]]:
    """The terms that are equal, and those of either side that are left over."""
    ones, others = (
        [_Rest(_term(side.flows, state, points), points) for state, points in side.terms()] for side in (left, right)
    )
    pairs = agreeing(left.flows, right.flows, left.terms(), right.terms())
    found: list[Match] = []
    for whole in (True, False):  # first matches that leave nothing of one of the terms
        for k, m in pairs:
            one, other = ones[k], others[m]
            left.flows.effort.check()
            if _alike(one.term.state, other.term.state):
                found += _matches(one, other, whole, equal)
    rest = [[one.term.state for one in side if not one.points.is_empty()] for side in (ones, others)]
    return found, rest[0], rest[1]


def _alike(one: State, other: State) -> bool:
    return one.negative == other.negative and len(one.factors) == len(other.factors)


def _matches(one: _Rest, other: _Rest, whole: bool, equal: Equal) -> Iterator[Match]:
    """How two terms are equal in what is left of them, which gets less."""
    for order in islice(_orders(one.term.state, other.term.state), _MOST_TRIES):
        if one.points.is_empty() or other.points.is_empty():
            return
        tried: list[isl.Map] = []
        for pairs in _candidates(one, other, order):
            if pairs.is_empty() or any(pairs.is_equal(before) for before in tried):
                continue
            tried.append(pairs)
            mine, theirs = pairs.range_factor_domain(), pairs.range_factor_range()
            covers = one.points.is_subset(mine) or other.points.is_subset(theirs)
            if (whole and not covers) or not _is_mutual(pairs):
                continue
            if _equal_factors(one.term.state, other.term.state, order, pairs, equal):
                yield Match(one.term.state, other.term.state, order, pairs)
                one.points = one.points.subtract(mine).coalesce()
                other.points = other.points.subtract(theirs).coalesce()
                break


def _orders(one: State, other: State) -> Iterator[tuple[int, ...]]:
    for order in permutations(range(len(one.factors))):
        if all(may_be_equal(f.node, other.factors[k].node) for f, k in zip(one.factors, order, strict=True)):
            yield order


def may_be_equal(a: ValueNode, b: ValueNode) -> bool:
    """A quick look that tells most different nodes apart."""
    plain = {Kind.OPERATION, Kind.INPUT, Kind.INDEX}
    if a.kind in plain and b.kind in plain:
        return a.kind is b.kind and a.signature == b.signature
    return True


def _candidates(one: _Rest, other: _Rest, order: tuple[int, ...]) -> Iterator[isl.Map]:
    """Relations that may be those of equal terms: the same elements of inputs, or the same iterations."""
    both = one.points.range_product(other.points)
    for keys, also in ((one.term.keys, other.term.keys), (one.term.places, other.term.places)):
        same: isl.Map | None = None
        for k, key in enumerate(keys):
            for x, y in _common(key, also[order[k]]):
                pair = x.apply_range(y.reverse())
                same = pair if same is None else same.intersect(pair)
        yield both if same is None else both.intersect_range(same.wrap())
    values = both.range().unwrap()
    if values.dim(_IN) == values.dim(_OUT):
        yield both.intersect_range(isl.Map.identity(values.get_space()).wrap())
    mine, theirs = _free(one.points), _free(other.points)
    if len(mine) == len(theirs):
        for first, second in zip(mine, theirs, strict=True):
            values = values.equate(_IN, first, _OUT, second)
        yield both.intersect_range(values.wrap())


def _free(points: isl.Map) -> list[int]:
    """The dimensions that are not determined by the iteration of the sum and those before."""
    found = []
    inputs, outputs = points.dim(_IN), points.dim(_OUT)
    for d in range(outputs):
        before = points.project_out(_OUT, d + 1, outputs - d - 1).move_dims(_IN, inputs, _OUT, 0, d)
        if not before.is_single_valued():
            found.append(d)
    return found


def _common(key: _Key, also: _Key) -> Iterator[tuple[isl.Map, isl.Map]]:
    """Elements of the same inputs, of those that both read equally often."""
    mine, theirs = (Counter(signature for signature, _ in one) for one in (key, also))
    shared = {signature for signature, count in mine.items() if theirs[signature] == count}
    first, second = ([m for s, m in one if s in shared] for one in (key, also))
    yield from zip(first, second, strict=True)


def _is_mutual(pairs: isl.Map) -> bool:
    """Whether each iteration of one side has one of the other, for each iteration of the sums."""
    there = pairs.uncurry()
    back = pairs.range_reverse().uncurry()
    return bool(there.is_single_valued() and back.is_single_valued())


def _equal_factors(one: State, other: State, order: Sequence[int], pairs: isl.Map, equal: Equal) -> bool:
    values = pairs.range().unwrap()
    todo = []
    for k, factor in enumerate(one.factors):
        partner = other.factors[order[k]]
        between = _only(values, _IN, one.offset(k), factor.width)
        between = _only(between, _OUT, other.offset(order[k]), partner.width)
        todo.append((factor.node, partner.node, between))
    return all(equal(*item) for item in todo)


def _only(relation: isl.Map, side: isl.dim_type, first: int, count: int) -> isl.Map:
    relation = relation.project_out(side, first + count, relation.dim(side) - first - count)
    return relation.project_out(side, 0, first)


def _term(flows: Flows, state: State, found: isl.Map) -> _Term:
    keys: list[_Key] = []
    places: list[_Key] = []
    points = found.range()
    same = flows.graph.relations.identity(state.width).intersect_domain(points)
    for k, factor in enumerate(state.factors):
        of_factor = _only(same, _OUT, state.offset(k), factor.width)
        keys.append(sorted(_keys(flows, factor.node, of_factor), key=lambda pair: pair[0]))
        places.append(_place(flows, factor.node, of_factor))
    return _Term(state, tuple(keys), tuple(places))


def _place(flows: Flows, node: ValueNode, relation: isl.Map) -> _Key:
    if node.kind is Kind.INPUT:
        return [(node.signature, _trimmed(relation, node.depth))]
    if node.kind is not Kind.READ or node.access is None or node.access.buffer.origin != "argument":
        return []
    number = flows.graph.arguments.index(node.access.buffer.value)
    elements = flows.graph.relations.elements(node.access).reset_tuple_id(_IN)
    return [(("argument", str(number)), _trimmed(relation, node.depth).apply_range(elements))]


class _Recurs(Exception):
    """A value depends on itself; carries the node."""


def _keys(flows: Flows, root: ValueNode, relation: isl.Map) -> _Key:
    """Which elements of inputs a value reads, as maps to them; not those below recurrences."""
    spent = 0

    def visit(node: ValueNode, through: isl.Map, path: tuple[ValueNode, ...]) -> _Key:
        nonlocal spent
        spent += 1
        if node in path:
            raise _Recurs(node)
        if spent > _MOST_NODES:
            return []
        through = _trimmed(through, node.depth)
        if node.kind is Kind.INPUT:
            return [(node.signature, through)]
        if node.kind is Kind.OPERATION:
            groups = [[(operand, through)] for operand in node.operands]
        elif node.kind is Kind.READ:
            groups = [[(o.node, through.apply_range(o.map)) for o in flows.origins(node)]]
        elif node.kind is Kind.CHOICE and node.cases is not None:
            cases = zip(node.cases, node.operands, strict=True)
            groups = [[(operand, through.intersect_range(case)) for case, operand in cases]]
        else:
            return []
        try:
            return [key for group in groups for key in together(group, (*path, node))]
        except _Recurs as recurs:
            if recurs.args[0] is node:
                return []
            raise

    def together(group: list[tuple[ValueNode, isl.Map]], path: tuple[ValueNode, ...]) -> _Key:
        """What the values read of which one is taken: elements of the same inputs, or nothing is known."""
        parts = [visit(one, image, path) for one, image in group if not image.is_empty()]
        signatures = {tuple(signature for signature, _ in part) for part in parts}
        if len(signatures) != 1:
            return []
        return [(same[0][0], reduce(isl.Map.union, (m for _, m in same))) for same in zip(*parts, strict=True)]

    return visit(root, relation, ())


def _trimmed(relation: isl.Map, depth: int) -> isl.Map:
    return relation.project_out(_OUT, depth, relation.dim(_OUT) - depth)
