"""Equality of two sums (products, minima, maxima): the same terms, in whatever order they are added up.

Sums are taken as polynomials: a factor of a sum is a factor of each of its terms, zeros that are added and ones that
are multiplied do not count. Where the products on both sides differ in their number of factors, those with fewer are
multiplied out. Integers are a ring modulo a power of two, so all of that is exact for them; for floats it is what
`reassociate` allows. Elements of a table may be maxima of other ones: if these cannot be taken apart to the end (they
come several times), other elements than that of the sum are terms.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import islpy as isl

from .algebra import Algebra, Role, algebras
from .alignment import NotAligned, can_align
from .expansion import Expansion, State, is_flat, sums_in
from .flow import Flows
from .matching import Equal, Match, matched
from .nodes import ValueNode
from .solution import NoSum

_IN, _OUT = isl.dim_type.in_, isl.dim_type.out
_ROUNDS = 8  # of multiplying out


@dataclass(frozen=True, slots=True)
class Options:
    """Whether floats may be reordered, and whether only sums without recurrences whose terms align are looked at."""

    reassociate: bool
    aligned: bool


type Domains = tuple[Callable[[ValueNode], isl.Set | None], Callable[[ValueNode], isl.Set | None]]


@dataclass(frozen=True, slots=True)
class Sums:
    """Two sums with the same terms, in related iterations."""

    algebra: Algebra
    left: Expansion = field(repr=False)
    right: Expansion = field(repr=False)
    matches: tuple[Match, ...]

    def relation(self) -> isl.Map:
        """{ iteration of the left sum -> iteration of the right one }"""
        return self.left.start.reverse().apply_range(self.right.start)


def is_sum(node: ValueNode, reassociate: bool) -> bool:
    """Whether the terms of a node may be taken in another order, perhaps under a cut to fewer bits."""
    return bool(algebras(node, reassociate))


def same_terms(
    left: Flows,
    right: Flows,
    a: ValueNode,
    b: ValueNode,
    relation: isl.Map,
    domains: Domains,
    options: Options,
    equal: Equal,
) -> Sums | None:
    """The terms of two sums in related iterations, if they are equal; `equal` is asked for single factors.

    Raises NotAligned if they are not looked at.
    """
    relation = _trimmed(_trimmed(relation, _IN, a.depth), _OUT, b.depth).coalesce()
    starts = _starts(relation)
    others = algebras(b, options.reassociate)
    for algebra in algebras(a, options.reassociate):
        if algebra not in others:
            continue
        for own_element in (False, True) if algebra.is_idempotent and not options.aligned else (False,):
            try:
                found = _compared(
                    algebra, (left, right), (a, b), starts, domains, options.aligned, equal, own_element
                )
            except NoSum:
                continue
            if found is not None:
                return found
    return None


def _compared(
    algebra: Algebra,
    flows: tuple[Flows, Flows],
    roots: tuple[ValueNode, ValueNode],
    starts: tuple[isl.Map, isl.Map],
    domains: Domains,
    aligned: bool,
    equal: Equal,
    own_element: bool,
) -> Sums | None:
    if aligned and not all(map(is_flat, flows, (algebra, algebra), roots)):
        raise NotAligned
    wanted: tuple[set[ValueNode], set[ValueNode]] = (set(), set())
    sides: list[Expansion | None] = [None, None]
    for _ in range(_ROUNDS):
        for k in range(2):
            sides[k] = sides[k] or Expansion(
                flows[k], algebra, roots[k], starts[k], wanted[k], domains[k], own_element
            )
        left, right = sides
        assert left is not None and right is not None
        if own_element and not (left.elsewhere or right.elsewhere):
            return None  # as without
        if aligned and not can_align(left.terms(), right.terms()):
            raise NotAligned
        if left.position[left.root] < 0 or right.position[right.root] < 0:
            return None
        found, *rest = matched(left, right, equal)
        if not rest[0] and not rest[1]:
            return Sums(algebra, left, right, tuple(found))
        changed = _multiply_out(left, right, rest[0], rest[1])
        if not any(changed):
            return None
        sides = [None if more else side for more, side in zip(changed, (left, right), strict=True)]
    return None


def _multiply_out(left: Expansion, right: Expansion, ones: list[State], others: list[State]) -> tuple[bool, bool]:
    """Want the sums among the factors of the smallest products that are left over; on which sides there are any."""
    states = [*((left, state) for state in ones), *((right, state) for state in others)]
    choices = [(side, state, _sums(side, state)) for side, state in states]
    sizes = [len(state.factors) for _, state, sums in choices if sums]
    changed = {left: False, right: False}
    for side, state, sums in choices:
        if sums and len(state.factors) == min(sizes):
            more = sums_in(side.flows, side.algebra, sums[0]) - side.wanted
            side.wanted.update(more)
            changed[side] = changed[side] or bool(more)
    return changed[left], changed[right]


def _sums(side: Expansion, state: State) -> list[ValueNode]:
    """The factors of a product that are sums and have not been multiplied out."""
    roles = zip(state.factors, side.roles[state], strict=True)
    return [f.node for f, found in roles if found & {Role.ADD, Role.SUBTRACT} and f.node not in side.wanted]


def _starts(relation: isl.Map) -> tuple[isl.Map, isl.Map]:
    """{ iteration of both sums -> that of the left one }, and of the right one."""
    if relation.is_single_valued():
        return relation.domain().identity(), relation
    return relation.domain_map().flatten_domain(), relation.range_map().flatten_domain()


def _trimmed(relation: isl.Map, side: isl.dim_type, depth: int) -> isl.Map:
    return relation.project_out(side, depth, relation.dim(side) - depth)
