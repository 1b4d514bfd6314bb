"""Proof that two graphs compute the same: obligations from outputs to inputs, closed by induction.

An obligation is a pair of nodes and a relation between their iterations: related iterations have equal values. It
follows from obligations on operands (of equal operations) or on the origins of reads; one that a former one covers is
closed. That is an induction, and not circular, because each step goes to values that were computed strictly earlier by
one of the programs and not later by the other, and both programs end. Recurrences would give new obligations for ever;
so the relation of a pair of reads that comes back is widened to its affine hull within the domains, and what then is
an obligation has to be shown too. After S. Verdoolaege, G. Janssens, M. Bruynooghe, "Equivalence checking of static
affine programs using widening to handle recurrences" (TOPLAS 34(3), 2012), and K. Shashidhar et al. (DATE 2005).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import islpy as isl

from .alignment import NotAligned
from .definedness import Chosen
from .flow import Flows, Origin
from .nodes import Gap, Kind, ValueNode
from .reductions import Options, Sums, is_sum, same_terms

_IN, _OUT, _SET = isl.dim_type.in_, isl.dim_type.out, isl.dim_type.set
# Exactly equal for floats too, but for the bits of a NaN.
_COMMUTATIVE = frozenset(
    f"arith.{name}"
    for name in ("addf", "mulf", "addi", "muli", "andi", "ori", "xori", "maxsi", "minsi", "maxui", "minui")
) | {"allo.fixed_add", "arith.maximumf", "arith.minimumf"}
_UNROLLED = 250  # steps that are left once a recurrence has no relation that holds in all of it


@dataclass(frozen=True, slots=True)
class Unproven:
    """Two nodes whose values cannot be shown equal, in the pair of iterations `at`.

    `point` is the pair of iterations of the obligation that asks for it; `surely` if an output needs it.
    """

    left: ValueNode
    right: ValueNode
    at: isl.Map
    point: isl.Map
    surely: bool = True


@dataclass(frozen=True, slots=True)
class Widening:
    """When a relation is widened, and to which hull.

    In a recurrence, if the obligation serves `patience` others of the same pair; else, if there were `contexts`.
    A relation that does not hold when it is widened is followed as it is; in sums, only if `unrolls_sums`.
    """

    patience: int
    contexts: int
    hull: str
    unrolls_sums: bool


type Pair = tuple[ValueNode, ValueNode]
type _Shown = tuple[dict[Pair, tuple[isl.Map, ...]], dict[Pair, tuple[Sums, ...]], list[Chosen]]


class OutOfSteps(Gap):
    """An attempt has taken longer than it may."""


class Prover:
    """One attempt: `entries` is what has been assumed, and shown if `equal` returns None."""

    def __init__(self, left: Flows, right: Flows, widening: Widening, budget: int, reassociate: bool) -> None:
        self.left, self.right = left, right
        self.widening = widening
        self.budget = budget
        self.steps = 0
        self.reassociate = reassociate
        self.sums: dict[Pair, tuple[Sums, ...]] = {}  # sums that are equal with their terms in another order
        self.within = 0  # sums around whose order has not been given up yet
        self.entries: dict[Pair, tuple[isl.Map, ...]] = {}
        self.chosen: list[Chosen] = []  # what undefined elements were taken to be
        self.unlike: dict[Pair, list[isl.Map]] = {}  # sums that are not
        self.active: dict[Pair, list[isl.Map]] = {}  # the relations of the obligations that the current one serves
        self.separate: set[Pair] = set()  # those whose relations cannot be widened together
        self.domains: dict[ValueNode, isl.Set] = {}
        self.computed: dict[ValueNode, frozenset[tuple[str, ...]]] = {}

    def equal(self, a: ValueNode, b: ValueNode, relation: isl.Map) -> Unproven | None:
        """None if related iterations have equal values; the relation may have more dimensions than the nodes."""
        self.left.effort.check(b.source or a.source)
        if relation.is_empty():
            return None
        if a.kind is Kind.UNDEFINED:
            self.chosen.append((a, b, relation))
            return None
        if a.kind is Kind.CHOICE or b.kind is Kind.CHOICE:
            return self._choices(a, b, relation)
        if a.kind is Kind.READ or b.kind is Kind.READ:
            return self._reads(a, b, relation)
        if a.kind is Kind.INDEX and b.kind is Kind.INDEX:
            return self._indices(a, b, relation)
        if Kind.OPAQUE in (a.kind, b.kind):
            return replace(_failure(a, b, relation), surely=False)
        if a.kind is not b.kind or a.signature != b.signature:
            if self._either(a, b, relation) or (is_sum(b, self.reassociate) and self._summed(a, b, relation)):
                return None
            return _failure(a, b, relation)
        if a.kind is Kind.INPUT:
            same = isl.Map.identity(relation.get_space()) if a.depth else None
            wrong = relation if same is None else relation.subtract(same)
            if same is None or wrong.is_empty():
                return None
            return _failure(a, b, wrong)
        if a.kind is Kind.PART:
            return self._parts(a, b, relation)
        return self._operands(a, b, relation)

    def _parts(self, a: ValueNode, b: ValueNode, relation: isl.Map) -> Unproven | None:
        """The same bits of equal words."""
        assert a.base is not None and b.base is not None
        wrong = relation.subtract(relation.equate(_IN, a.depth - 1, _OUT, b.depth - 1))
        if not wrong.is_empty():
            return _failure(a, b, wrong)
        words = relation.project_out(_IN, a.depth - 1, 1).project_out(_OUT, b.depth - 1, 1)
        failure = self.equal(a.base, b.base, words)
        return None if failure is None else replace(failure, surely=False)

    def _operands(self, a: ValueNode, b: ValueNode, relation: isl.Map) -> Unproven | None:
        if self._summed(a, b, relation, aligned=True):
            return None
        saved, within = self._state(), self.within
        self.within = within + 1 if is_sum(a, self.reassociate) else 0
        failure = self._in_some_order(a, b, relation)
        self.within = within
        if failure is None:
            return None
        self._back_to(saved)
        return None if self._either(a, b, relation) or self._summed(a, b, relation) else failure

    def _either(self, a: ValueNode, b: ValueNode, relation: isl.Map) -> bool:
        """Whether `b` chooses between two values which are both that of `a`."""
        if b.signature[:1] != ("arith.select",):
            return False
        saved = self._state()
        if all(self.equal(a, one, relation) is None for one in b.operands[1:]):
            return True
        self._back_to(saved)
        return False

    def _in_some_order(self, a: ValueNode, b: ValueNode, relation: isl.Map) -> Unproven | None:
        """Equal operands, or equal ones after an exchange."""
        saved = self._state()
        failure: Unproven | None = None
        for operands in (b.operands, b.operands[::-1]) if _commutes(a) else (b.operands,):
            if self.within and not all(map(self._may_be_equal, a.operands, operands)):
                continue
            found = self._each(a.operands, operands, relation)
            if found is None:
                return None
            failure = failure or found
            self._back_to(saved)
        return failure or _failure(a, b, relation)

    def _may_be_equal(self, a: ValueNode, b: ValueNode) -> bool:
        """A look at what computes two values, which tells most different ones apart; sums in one order only."""
        first, second = self._computed_by(self.left, a), self._computed_by(self.right, b)
        return not first.isdisjoint(second) or not (first and second)

    def _computed_by(self, flows: Flows, node: ValueNode) -> frozenset[tuple[str, ...]]:
        """The signatures of what reads and choices lead to; empty if they do not tell."""
        known = self.computed.get(node)
        if known is not None:
            return known
        found: set[tuple[str, ...]] = set()
        seen: set[ValueNode] = set()
        waiting = [node]
        while waiting:
            one = waiting.pop()
            if one in seen:
                continue
            seen.add(one)
            if one.kind is Kind.READ:
                waiting += [origin.node for origin in flows.origins(one)]
            elif one.kind is Kind.CHOICE:
                waiting += one.operands
            elif one.kind in (Kind.OPERATION, Kind.INPUT, Kind.INDEX) and one.signature != ("arith.select",):
                found.add(one.signature)
            else:
                found.clear()
                break
        self.computed[node] = frozenset(found)
        return self.computed[node]

    def _summed(self, a: ValueNode, b: ValueNode, relation: isl.Map, aligned: bool = False) -> bool:
        """Whether two sums have the same terms in another order; not tried below sums whose order may do.

        With `aligned`, only for sums of terms of which it can be guessed which ones are equal, as those of stencils.
        """
        if self.within or not is_sum(a, self.reassociate):
            return False
        own = _trimmed(relation, a.depth, b.depth)
        if any(own.is_subset(known.relation()) for known in self.sums.get((a, b), ())):
            return True
        unlike = self.unlike.setdefault((a, b), [])
        if any(known.is_subset(own) for known in unlike):
            return False
        saved, within = self._state(), self.within

        def equal(one: ValueNode, other: ValueNode, pairs: isl.Map) -> bool:
            before, self.within = self._state(), 0
            failure = self.equal(one, other, pairs)
            if failure is not None:
                self._back_to(before)
            self.within = within
            return failure is None

        domains = partial(self._domain, self.left), partial(self._domain, self.right)
        options = Options(self.reassociate, aligned)
        try:
            found = same_terms(self.left, self.right, a, b, relation, domains, options, equal)
        except NotAligned:
            return False
        if found is not None:
            self.sums[(a, b)] = (*self.sums.get((a, b), ()), found)
            return True
        self._back_to(saved)
        unlike.append(own)
        return False

    def _state(self) -> _Shown:
        return dict(self.entries), dict(self.sums), list(self.chosen)

    def _back_to(self, state: _Shown) -> None:
        self.entries, self.sums, self.chosen = dict(state[0]), dict(state[1]), list(state[2])

    def _each(self, left: tuple[ValueNode, ...], right: tuple[ValueNode, ...], relation: isl.Map) -> Unproven | None:
        """All operands, recurrences last: what differs outside of them differs at once."""
        pairs = list(zip(left, right, strict=True))
        recurs = self.left.graph.recurs
        for one, other in sorted(pairs, key=lambda pair: recurs(pair[0])):
            failure = self.equal(one, other, relation)
            if failure is not None:
                return failure
        return None

    def _choices(self, a: ValueNode, b: ValueNode, relation: isl.Map) -> Unproven | None:
        """Split where an affine condition holds."""
        side, node = (_IN, a) if a.kind is Kind.CHOICE else (_OUT, b)
        assert node.cases is not None
        for case, operand in zip(node.cases, node.operands, strict=True):
            case = case.add_dims(_SET, relation.dim(side) - node.depth)
            if side == _IN:
                failure = self.equal(operand, b, relation.intersect_domain(case))
            else:
                failure = self.equal(a, operand, relation.intersect_range(case))
            if failure is not None:
                return failure
        return None

    def _indices(self, a: ValueNode, b: ValueNode, relation: isl.Map) -> Unproven | None:
        if a.signature != b.signature:
            return _failure(a, b, relation)
        one = self.left.graph.index_map( a, relation.dim(_IN))
        other = self.right.graph.index_map( b, relation.dim(_OUT))
        wrong = relation.subtract(one.apply_range(other.reverse()))
        return None if wrong.is_empty() else _failure(a, b, wrong)

    def _reads(self, a: ValueNode, b: ValueNode, relation: isl.Map) -> Unproven | None:
        own = _trimmed(relation, a.depth, b.depth)
        known = self.entries.get((a, b), ())
        if any(own.is_subset(one) for one in known) or (len(known) > 1 and own.is_subset(_union(known))):
            return None
        stack = self.active.setdefault((a, b), [])
        recurs = len(stack) >= self.widening.patience
        if (recurs or (not stack and len(known) >= self.widening.contexts)) and (a, b) not in self.separate:
            saved = self._state()
            wide = self._hull(a, b, [*(stack[-1:] if stack else known), own])
            failure = self._assume(a, b, wide if own.is_subset(wide) else own, stack, relation, own)
            if failure is None or failure.surely:
                return failure
            self._back_to(saved)
            if self.within and not self.widening.unrolls_sums:
                return failure  # their terms may be the same
            self.separate.add((a, b))
            if recurs:
                self.budget = min(self.budget, _UNROLLED)
        return self._assume(a, b, own, stack, relation, own)

    def _assume(
        self, a: ValueNode, b: ValueNode, wanted: isl.Map, stack: list[isl.Map], relation: isl.Map, own: isl.Map
    ) -> Unproven | None:
        """Enter a relation and show what it follows from."""
        self.budget -= 1
        self.steps += 1
        if self.budget < 0:
            raise OutOfSteps("the proof takes too many steps", a.source)
        self.entries[(a, b)] = (*self.entries.get((a, b), ()), wanted)
        stack.append(wanted)
        failure = self._origins(a, b, wanted, relation, own)
        stack.pop()
        return failure

    def _origins(self, a: ValueNode, b: ValueNode, wanted: isl.Map, relation: isl.Map, own: isl.Map) -> Unproven | None:
        """Follow the reads of a pair to where their values come from."""
        lefts = self.left.origins(a) if a.kind is Kind.READ else (None,)
        rights = self.right.origins(b) if b.kind is Kind.READ else (None,)
        for one in lefts:
            part = wanted if one is None else wanted.apply_domain(one.map)
            if part.is_empty():
                continue
            for other in rights:
                rest = part if other is None else part.apply_range(other.map)
                failure = self.equal(
                    a if one is None else one.node, b if other is None else other.node, rest.coalesce()
                )
                if failure is not None:
                    return _lifted(failure, relation, own, one, other)
        return None

    def _hull(self, a: ValueNode, b: ValueNode, relations: Sequence[isl.Map]) -> isl.Map:
        both = _union(relations).coalesce()
        hull = both.affine_hull() if self.widening.hull == "affine" else both.unshifted_simple_hull()
        wide = isl.Map.from_basic_map(hull)
        left, right = self._domain(self.left, a), self._domain(self.right, b)
        if left is not None:
            wide = wide.intersect_domain(left)
        return wide if right is None else wide.intersect_range(right)

    def _domain(self, flows: Flows, node: ValueNode) -> isl.Set | None:
        if node.base is not None:
            word = self._domain(flows, node.base)
            return None if word is None else word.add_dims(_SET, 1)
        if node.kind is not Kind.READ:
            return flows.graph.iterations(node)
        found = self.domains.get(node)
        if found is None:
            parts = [origin.map.domain() for origin in flows.origins(node)]
            found = parts[0]
            for part in parts[1:]:
                found = found.union(part)
            found = self.domains[node] = found.coalesce()
        return found


def _union(relations: Sequence[isl.Map]) -> isl.Map:
    result = relations[0]
    for one in relations[1:]:
        result = result.union(one)
    return result


def _commutes(node: ValueNode) -> bool:
    if len(node.operands) != 2:
        return False
    return node.signature[0] in _COMMUTATIVE and node.signature[2] == node.signature[3]


def _failure(a: ValueNode, b: ValueNode, relation: isl.Map) -> Unproven:
    point = _one_of(relation)
    return Unproven(a, b, point, point)


def _trimmed(relation: isl.Map, inputs: int, outputs: int) -> isl.Map:
    """Without the dimensions of inner loops."""
    have, also = relation.dim(_IN), relation.dim(_OUT)
    if have > inputs:
        relation = relation.project_out(_IN, inputs, have - inputs)
    if also > outputs:
        relation = relation.project_out(_OUT, outputs, also - outputs)
    return relation


def _lifted(
    failure: Unproven, relation: isl.Map, own: isl.Map, one: Origin | None, other: Origin | None
) -> Unproven:
    """The failure seen from the obligation that led to it."""
    if not failure.surely:
        return failure
    before = failure.point
    inputs = before.dim(_IN) if one is None else one.map.dim(_OUT)
    outputs = before.dim(_OUT) if other is None else other.map.dim(_OUT)
    before = _trimmed(before, inputs, outputs)
    if one is not None:
        before = before.apply_domain(one.map.reverse())
    if other is not None:
        before = before.apply_range(other.map.reverse())
    before = before.intersect(own)
    if before.is_empty():
        return replace(failure, surely=False)
    point = _one_of(before)
    for side in (_IN, _OUT):
        point = point.add_dims(side, relation.dim(side) - point.dim(side))
    return replace(failure, point=_one_of(point.intersect(relation)))


def _one_of(relation: isl.Map) -> isl.Map:
    return isl.Map.from_basic_map(relation.sample())
