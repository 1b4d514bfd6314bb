"""Expansion of a sum of products: its terms, and the iterations in which each of them is added.

A state is a product of values, and the map of a state takes an iteration of the sum to the iterations of these values
whose products are in it, each once. Taking one value apart (a sum into its operands, a read into the values it sees)
leads to other states. The maps are the solution of these equations: there is only one, as values come from earlier
ones. Recurrences are cycles of states, which are solved by elimination with the closures of their steps.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import islpy as isl

from ...ir.access import is_store, stored
from .algebra import Algebra, Role
from .definedness import may_be_undefined
from .flow import Flows
from .nodes import Kind, ValueNode
from .solution import NoSum, components, solved

_IN, _OUT, _SET = isl.dim_type.in_, isl.dim_type.out, isl.dim_type.set
_MOST_STATES = 400
_MOST_FACTORS = 6  # of a product
_INNER = frozenset({Role.READ, Role.CHOICE, Role.CAST, Role.ADD, Role.SUBTRACT, Role.NEGATE})
_EXACT_VISITS = 1  # of a state, before what is known of it is widened
_SUMS = frozenset({Role.ADD, Role.SUBTRACT, Role.NEGATE})
_FOLLOWED = _INNER - _SUMS


@dataclass(frozen=True, slots=True)
class Factor:
    """A value in an iteration of `width` dimensions, of which the first ones are those of the node."""

    node: ValueNode
    width: int


@dataclass(frozen=True, slots=True)
class State:
    """A product, or the negative of it."""

    factors: tuple[Factor, ...]
    negative: bool = False

    def offset(self, position: int) -> int:
        """Where the dimensions of a factor begin."""
        return sum(factor.width for factor in self.factors[:position])

    @property
    def width(self) -> int:
        return self.offset(len(self.factors))

    def replaced(self, position: int, *new: Factor) -> State:
        """With new factors in the place of one."""
        return State((*self.factors[:position], *new, *self.factors[position + 1 :]), self.negative)

    def negated(self) -> State:
        return State(self.factors, not self.negative)


type Edge = tuple[State, isl.Map]  # to another state; takes iterations of the products to iterations


class Expansion:
    """One side: `maps` has the states, `position` which factor of them is taken apart, if any (else they are terms).

    With `own_element`, reads of other elements of the array that the sum is kept in are terms.
    """

    def __init__(
        self,
        flows: Flows,
        algebra: Algebra,
        root: ValueNode,
        start: isl.Map,
        wanted: set[ValueNode],
        domain: Callable[[ValueNode], isl.Set | None],
        own_element: bool = False,
    ) -> None:
        self.flows, self.algebra, self.domain = flows, algebra, domain
        self.root = State((Factor(root, start.dim(_OUT)),))
        self.start = start
        self.wanted = wanted
        self.kept = self._kept(root) if own_element else {}
        self.elsewhere: set[State] = set()  # terms because they are other elements
        self.position: dict[State, int] = {}
        self.edges: dict[State, list[Edge]] = {}
        self.roles: dict[State, list[set[Role]]] = {}
        self._explore()
        self.maps = solved(self.root, start, self.edges, flows.effort)

    def terms(self) -> list[tuple[State, isl.Map]]:
        return [(state, found) for state, found in self.maps.items() if self.position[state] < 0]

    def _explore(self) -> None:
        """Find the states, with more iterations than there are where they come back."""
        reached: dict[State, isl.Map] = {self.root: self.start}
        visits: dict[State, int] = {}
        waiting = [self.root]
        while waiting:
            self.flows.effort.check()
            state = waiting.pop(0)
            visits[state] = visits.get(state, 0) + 1
            if len(reached) > _MOST_STATES or len(state.factors) > _MOST_FACTORS:
                raise NoSum
            self._take_apart(state, reached[state])
            for target, step in self.edges[state]:
                image = reached[state].apply_range(step)
                if image.is_empty():
                    continue
                if target in reached:
                    if image.is_subset(reached[target]):
                        continue
                    both = reached[target].union(image).coalesce()
                    image = self._wider(target, both, visits.get(target, 0))
                reached[target] = image
                if target not in waiting:
                    waiting.append(target)

    def _wider(self, state: State, both: isl.Map, visits: int) -> isl.Map:
        if visits < _EXACT_VISITS:
            return both
        wide = isl.Map.from_basic_map(both.affine_hull())
        if visits > 2 * _EXACT_VISITS:
            wide = isl.Map.universe(both.get_space()).intersect_domain(both.domain())
        for position, factor in enumerate(state.factors):
            domain = self.domain(factor.node)
            if domain is not None:
                offset = state.offset(position)
                after = state.width - offset - domain.dim(_SET)
                wide = wide.intersect_range(domain.insert_dims(_SET, 0, offset).add_dims(_SET, after))
        return wide if both.is_subset(wide) else wide.union(both)

    def _take_apart(self, state: State, reached: isl.Map) -> None:
        """Choose the factor of a state that is taken apart, and find the states that this leads to."""
        self.roles[state] = roles = [
            self._roles(factor.node, _only(reached, state.offset(k), factor.width).range())
            for k, factor in enumerate(state.factors)
        ]
        single = len(state.factors) == 1
        inviting = {Role.MULTIPLY, Role.ZERO, Role.NEGATE, *((Role.ADD, Role.SUBTRACT) if single else (Role.ONE,))}
        factors = enumerate(zip(state.factors, roles, strict=True))
        position = next((k for k, (f, found) in factors if found & inviting or self._is_cast(f.node)), -1)
        if position < 0:
            sums = (k for k, found in enumerate(roles) if found & _SUMS and state.factors[k].node in self.wanted)
            position = next(sums, -1)
        if position >= 0 and self._loses_undefined(state, position, reached):
            position = -1
        self.elsewhere.discard(state)
        if position >= 0 and self._is_elsewhere(state, position, reached):
            self.elsewhere.add(state)
            position = -1
        edges = [] if position < 0 else list(self._steps(state, position))
        if not all(_is_one_to_one(reached, step) for _, step in edges):
            position, edges = -1, []  # what is added more than once stays as it is
        self.position[state], self.edges[state] = position, edges

    def _kept(self, root: ValueNode) -> dict[str, isl.Map]:
        """Where the value of the sum is stored: { iteration of the sum -> element } of each array, by label."""
        kept: dict[str, isl.Map] = {}
        for access in self.flows.graph.model.accesses:
            if not (access.is_write and access.exact and is_store(access.op)):
                continue
            if not self._is_value(self.flows.graph.node(stored(access.op)), root):
                continue
            elements = self.flows.graph.relations.elements(access).reset_tuple_id(_IN)
            if elements.dim(_IN) != root.depth:
                continue
            through = _only(self.start, 0, root.depth).apply_range(elements)
            label = access.buffer.label
            kept[label] = kept[label].union(through) if label in kept else through
        return kept

    def _is_value(self, stored: ValueNode, root: ValueNode) -> bool:
        """Whether what is stored is the root, under choices and casts."""
        if stored is root:
            return True
        if self.algebra.role(stored) not in (Role.CHOICE, Role.CAST):
            return False
        return any(self._is_value(one, root) for one in stored.operands)

    def _is_elsewhere(self, state: State, position: int, reached: isl.Map) -> bool:
        """Whether a factor is an element of an array that keeps the sum, and never the element of the sum."""
        node = state.factors[position].node
        if node.kind is not Kind.READ or node.access is None or node.access.buffer.label not in self.kept:
            return False
        elements = self.flows.graph.relations.elements(node.access).reset_tuple_id(_IN)
        read = _only(reached, state.offset(position), node.depth).apply_range(elements)
        return bool(read.is_disjoint(self.kept[node.access.buffer.label]))

    def _is_cast(self, node: ValueNode) -> bool:
        return self.algebra.role(node) is Role.CAST

    def _loses_undefined(self, state: State, position: int, reached: isl.Map) -> bool:
        """Whether a factor is a zero of floats, and another one may have no value."""
        if self.algebra.width or self.algebra.role(state.factors[position].node) is not Role.ZERO:
            return False
        for k, factor in enumerate(state.factors):
            points = _only(reached, state.offset(k), factor.width).range()
            if k != position and may_be_undefined(self._origins, factor.node, points):
                return True
        return False

    def _origins(self, node: ValueNode) -> list[tuple[ValueNode, isl.Map]]:
        return [(origin.node, origin.map) for origin in self.flows.origins(node)]

    def _roles(self, node: ValueNode, points: isl.Set) -> set[Role]:
        """What values of a node are once reads and choices are followed; perhaps more than that.

        Only zeros that are surely there count: taking a value apart for others would lose what it is a copy of.
        """
        found: set[Role] = set()
        reached: dict[ValueNode, isl.Set] = {}
        visits: dict[ValueNode, int] = {}
        exact, wider = [(node, points)], list[tuple[ValueNode, isl.Set]]()
        while exact or wider:
            waiting = exact or wider
            one, at = waiting.pop()
            role = self.algebra.role(one)
            if role is Role.SUBTRACT and self.algebra.role(one.operands[0]) is Role.ZERO:
                role = Role.NEGATE
            if role not in _FOLLOWED:
                if role is not Role.ZERO or waiting is exact:
                    found.add(role)
                continue
            at = at.project_out(_SET, one.depth, at.dim(_SET) - one.depth)
            if at.is_empty() or (one in reached and at.is_subset(reached[one])):
                continue
            visits[one] = visits.get(one, 0) + 1
            if visits[one] > _EXACT_VISITS:
                at, waiting = isl.Set.universe(at.get_space()), wider
            reached[one] = at = at.union(reached[one]).coalesce() if one in reached else at
            waiting += [(other, image) for other, image in self._followed(one, role, at) if not image.is_empty()]
        return found

    def _followed(self, node: ValueNode, role: Role, at: isl.Set) -> list[tuple[ValueNode, isl.Set]]:
        """Where the values of a read, a choice or a cast come from."""
        if role is Role.READ:
            return [(origin.node, at.apply(origin.map)) for origin in self.flows.origins(node)]
        return _cases(node, at) if role is Role.CHOICE else [(node.operands[0], at)]

    def _steps(self, state: State, position: int) -> Iterator[Edge]:
        """The states that a factor of a state is taken apart into; none for a zero."""
        factor = state.factors[position]
        node, width = factor.node, factor.width
        offset = state.offset(position)
        space = self.flows.graph.relations.map_space(state.width, state.width)
        same = isl.Map.identity(space)
        role = self.algebra.role(node)
        if role is Role.READ:
            for origin in self.flows.origins(node):
                inner = origin.map.add_dims(_IN, width - node.depth)
                target = state.replaced(position, Factor(origin.node, inner.dim(_OUT)))
                yield target, self._beside(offset, inner, state.width - offset - width)
        elif role is Role.CHOICE:
            inner = self.flows.graph.relations.identity(width)
            for operand, inside in _cases(node, inner.domain()):
                step = self._beside(offset, inner.intersect_domain(inside), state.width - offset - width)
                yield state.replaced(position, Factor(operand, width)), step
        elif role is Role.MULTIPLY:
            inner = self.flows.graph.relations.identity(width)
            step = self._beside(offset, inner.flat_range_product(inner), state.width - offset - width)
            yield state.replaced(position, *(Factor(operand, width) for operand in node.operands)), step
        elif role is Role.ONE:
            yield state.replaced(position), same.project_out(_OUT, offset, width)
        elif role in _SUMS or role is Role.CAST:
            for k, operand in enumerate(node.operands):
                target = state.replaced(position, Factor(operand, width))
                flips = role is Role.NEGATE or (role is Role.SUBTRACT and k == 1)
                yield (target.negated() if flips else target), same
        elif role is not Role.ZERO:
            raise NoSum

    def _beside(self, before: int, inner: isl.Map, after: int) -> isl.Map:
        """The identity of the dimensions before and after those of a map."""
        graph = self.flows.graph
        left = graph.relations.identity(before).flat_product(inner)
        return left.flat_product(graph.relations.identity(after))


def sums_in(flows: Flows, algebra: Algebra, node: ValueNode) -> set[ValueNode]:
    """The nodes on the way from one to the products that it is the sum of."""
    found: set[ValueNode] = set()
    waiting = [node]
    while waiting:
        one = waiting.pop()
        if one not in found and algebra.role(one) in _INNER:
            found.add(one)
            waiting += _inner(flows, one)
    return found


def is_flat(flows: Flows, algebra: Algebra, node: ValueNode) -> bool:
    """Whether a sum does not go on with an earlier iteration of itself; copies on the way may be copies of copies."""
    after = {one: _inner(flows, one) for one in sums_in(flows, algebra, node)}
    cycles = [one for component in components(node, after) if len(component) > 1 for one in component]
    return not any(algebra.role(one) in _SUMS for one in cycles)


def _inner(flows: Flows, node: ValueNode) -> list[ValueNode]:
    return [o.node for o in flows.origins(node)] if node.kind is Kind.READ else list(node.operands)


def _cases(node: ValueNode, points: isl.Set) -> list[tuple[ValueNode, isl.Set]]:
    assert node.kind is Kind.CHOICE and node.cases is not None
    more = points.dim(_SET) - node.depth
    return [
        (operand, points.intersect(case.add_dims(_SET, more)))
        for case, operand in zip(node.cases, node.operands, strict=True)
    ]


def _only(reached: isl.Map, first: int, count: int) -> isl.Map:
    reached = reached.project_out(_OUT, first + count, reached.dim(_OUT) - first - count)
    return reached.project_out(_OUT, 0, first)


def _is_one_to_one(reached: isl.Map, step: isl.Map) -> bool:
    """Whether no two iterations of one product of a sum lead to the same."""
    if step.is_injective():
        return True
    here = reached.range_map()
    return bool(reached.domain_map().range_product(here.apply_range(step)).is_injective())
