"""Decides whether what a certificate says of two sums is right: that they have the same terms, each as often.

A sum is a polynomial; a state of it is a product of values with a map from iterations of the sum to the iterations of
these values whose products it has. Taking one value of a state apart leads to other states. The maps told must be what
comes in, each once; as values come from earlier ones, there is only one solution of these equations. Then the states
that are not taken apart must be paired one to one, with equal values.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations
from typing import Any, Protocol

import islpy as isl

from ..poly.linear import Linear
from .affine.definedness import may_be_undefined
from .affine.graph import Graph
from .affine.nodes import Kind, Node

_IN, _OUT, _SET = isl.dim_type.in_, isl.dim_type.out, isl.dim_type.set
_ANY_ORDER = {f"arith.{n}" for n in ("muli", "andi", "ori", "xori", "maxsi", "minsi", "maxui", "minui")}
_ANY_ORDER |= {"arith.mulf", "arith.maximumf", "arith.minimumf"}  # floats only if that is allowed
_WRAPPING = {"", "arith.muli", "arith.andi", "arith.ori", "arith.xori"}
_RING = {"addi": "+", "addf": "+", "subi": "-", "subf": "-", "negf": "~", "muli": "*", "mulf": "*"}
_CASTS = ("arith.trunci", "arith.extsi", "arith.extui")

type _Factors = tuple[tuple[Node, int], ...]
type _Terms = list[tuple[_Factors, bool, isl.Map]]


class Wrong(Exception):
    """A certificate that proves nothing."""


class Side(Protocol):
    """A program with the checked sources of its reads."""

    graph: Graph

    def origins(self, node: Node) -> Sequence[tuple[Node, isl.Map]]: ...


class SumCheck:
    """One claim: `relation` has the pairs of iterations of the roots in which their values are said to be equal."""

    def __init__(self, told: Sequence[Any], left: Side, right: Side, a: Node, b: Node, reassociate: bool) -> None:
        self.operation, self.told, self.matches = told[0], told[1:3], told[3]
        self.sides, self.roots = (left, right), (a, b)
        self.type = _result(a)
        self.bits = _bits(self.type) if self.operation in _WRAPPING else 0
        if self.operation and self.operation not in _ANY_ORDER:
            raise Wrong(f"`{self.operation}` has an order")
        if self.type != _result(b) or not (reassociate or _bits(self.type)):
            raise Wrong(f"the order of terms of {a.id} matters")
        self.starts = [isl.Map(text) for text, _ in self.told]
        if not all(start.is_single_valued() for start in self.starts):
            raise Wrong("an iteration of two sums is not one of each")
        self.relation = self.starts[0].reverse().apply_range(self.starts[1])

    def run(self, equal: Callable[[Node, Node, isl.Map], bool]) -> None:
        """Raises Wrong unless the values are equal because of those that `equal` says are."""
        left, right = (self._terms(k) for k in range(2))
        parts: tuple[dict[int, list[isl.Map]], dict[int, list[isl.Map]]] = ({}, {})
        for first, second, order, text in self.matches:
            pairs = isl.Map(text)
            (ones, minus, whole), (others, also, all_others) = left[first], right[second]
            if minus != also or sorted(order) != list(range(len(ones))) or len(ones) != len(others):
                raise Wrong("two terms of sums are different")
            mutual = pairs.uncurry().is_single_valued() and pairs.range_reverse().uncurry().is_single_valued()
            if not mutual or not pairs.is_subset(whole.range_product(all_others)):
                raise Wrong("terms of sums are not matched one to one")
            for k, (node, _) in enumerate(ones):
                values = _part(_part(pairs.range().unwrap(), _IN, ones, k), _OUT, others, order[k])
                if not equal(node, others[order[k]][0], values):
                    raise Wrong(f"nothing shows that {node.id} and {others[order[k]][0].id} of two sums are equal")
            parts[0].setdefault(first, []).append(pairs.range_factor_domain())
            parts[1].setdefault(second, []).append(pairs.range_factor_range())
        for side, given in zip((left, right), parts, strict=True):
            for k, (_, _, whole) in enumerate(side):
                if not whole.is_empty() and not _once(given.get(k, []), whole):
                    raise Wrong("a term of a sum is not matched once")

    def _terms(self, number: int) -> _Terms:
        """The states of one side, in the order told; those that are taken apart become empty."""
        start, told = self.starts[number], self.told[number][1]
        claims = {_key(factors, minus): (at, isl.Map(text)) for factors, minus, at, text in told}
        root: tuple[_Factors, bool] = (((self.roots[number], start.dim(_OUT)),), False)
        states = {_named(*root): root}
        incoming = {_named(*root): [start]}
        if claims[_named(*root)][0] < 0:
            raise Wrong("a sum is said to be its own term")
        waiting = list(states)
        for key in waiting:  # which grows
            position, whole = claims[key]
            factors, minus = states[key]
            if position < 0:
                continue
            for target, flips, step in self._steps(self.sides[number], factors, position, whole):
                image = whole.apply_range(step)
                if image.is_empty():
                    continue
                if not whole.domain_map().range_product(whole.range_map().apply_range(step)).is_injective():
                    raise Wrong("a term is added more than once")
                other = _named(target, minus != flips)
                incoming.setdefault(other, []).append(image)
                if other not in states:
                    states[other] = (target, minus != flips)
                    waiting.append(other)
        if set(states) != set(claims) or not all(_once(incoming[key], claims[key][1]) for key in states):
            raise Wrong("the terms of a sum are not those of its operands")
        keys = [_key(factors, minus) for factors, minus, _, _ in told]
        empty = isl.Map.empty(start.get_space())
        return [(*states[key], claims[key][1] if claims[key][0] < 0 else empty) for key in keys]

    def _steps(
        self, side: Side, factors: _Factors, position: int, whole: isl.Map
    ) -> Iterator[tuple[_Factors, bool, isl.Map]]:
        """What taking a factor apart leads to: products, whether the sign changes, in which iterations."""
        node, width = factors[position]
        before, after = factors[:position], factors[position + 1 :]
        graph = side.graph
        sizes = sum(w for _, w in before), sum(w for _, w in after)
        all_dims = sizes[0] + width + sizes[1]
        first, same, last = (isl.Map.identity(graph.map_space(n, n)) for n in (sizes[0], all_dims, sizes[1]))
        if node.kind is Kind.READ:
            for origin, through in side.origins(node):
                inner = first.flat_product(through.add_dims(_IN, width - node.depth)).flat_product(last)
                yield (*before, (origin, through.dim(_OUT)), *after), False, inner
            return
        if node.kind is Kind.CHOICE:
            for case, operand in zip(node.cases or (), node.operands, strict=True):
                inside = case.insert_dims(_SET, 0, sizes[0]).add_dims(_SET, all_dims - sizes[0] - node.depth)
                yield (*before, (operand, width), *after), False, same.intersect_domain(inside)
            return
        rule = self._rule(node)
        if rule == "0":
            for k, (other, _) in enumerate(factors):
                points = _part(whole, _OUT, factors, k).range()
                if not self.bits and k != position and may_be_undefined(side.origins, other, points):
                    raise Wrong(f"{other.id} is multiplied by zero, and may be undefined")
        elif rule == "1" and len(factors) > 1:
            yield (*before, *after), False, same.project_out(_OUT, sizes[0], width)
        elif rule == "*":
            copied = same.project_out(_OUT, sizes[0] + width, sizes[1]).project_out(_OUT, 0, sizes[0])
            one, other = node.operands
            yield (*before, (one, width), *after, (other, width)), False, same.flat_range_product(copied)
        elif rule in ("+", "-", "~", "="):
            for k, operand in enumerate(node.operands):
                yield (*before, (operand, width), *after), rule == "~" or (rule == "-" and k == 1), same
        else:
            raise Wrong(f"{node.id} cannot be taken apart")

    def _rule(self, node: Node) -> str:
        """Which law takes a value apart: zero, one, sum, difference, negative, product, cut or extension."""
        if node.kind is Kind.INDEX and not self.operation:
            return "0" if node.form == Linear(0) else "1" if node.form == Linear(1) else ""
        if node.kind is not Kind.OPERATION or "->" not in node.signature:
            return ""
        name = node.signature[0]
        if name in _CASTS:
            fits = self.bits and min(_bits(node.signature[2]), _bits(_result(node))) >= self.bits
            return "=" if fits else ""
        if name == "arith.constant":
            value = next((part for part in node.signature if part.startswith("value=")), "")
            is_zero = re.fullmatch(r"value=(false|-?0(\.0+)?(e[+-]?\d+)?)( : .*)?", value) is not None
            is_one = re.fullmatch(r"value=(true|1(\.0+)?(e\+00)?)( : .*)?", value) is not None
            if is_zero and self.operation in ("", "arith.ori", "arith.xori"):
                return "0"
            return "1" if is_one and not self.operation else ""
        if _bits(_result(node)) < self.bits if self.bits else _result(node) != self.type:
            return ""
        if self.operation:
            return "+" if name == self.operation else ""
        return _RING.get(name.removeprefix("arith."), "")


def _once(parts: Sequence[isl.Map], whole: isl.Map) -> bool:
    """Whether maps are a partition of another one."""
    union = isl.Map.empty(whole.get_space())
    for part in parts:
        union = union.union(part)
    return union.is_equal(whole) and all(one.is_disjoint(other) for one, other in combinations(parts, 2))


def _part(relation: isl.Map, side: isl.dim_type, factors: _Factors, number: int) -> isl.Map:
    """The dimensions of one factor."""
    before = sum(width for _, width in factors[:number])
    end = before + factors[number][1]
    return relation.project_out(side, end, relation.dim(side) - end).project_out(side, 0, before)


def _named(factors: _Factors, minus: bool) -> tuple[Any, bool]:
    return tuple((node.id, width) for node, width in factors), minus


def _key(factors: Sequence[Sequence[Any]], minus: bool) -> tuple[Any, bool]:
    return tuple((name, width) for name, width in factors), minus


def _result(node: Node) -> str:
    return node.signature[node.signature.index("->") + 1]


def _bits(kind: str) -> int:
    return int(kind[1:]) if kind[:1] == "i" and kind[1:].isdigit() else 0
