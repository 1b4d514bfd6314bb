"""Checker of what a certificate says of two sums: that they have the same terms, each as often.

A sum is a polynomial; a state of it is a product of values, with { iteration of the sums -> iterations of the values }.
Taking one value of a state apart leads to other states, and the maps told must be what comes in, each once: there is
only one solution, as values come from earlier ones. States that are not taken apart are terms, paired one to one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import reduce
from itertools import combinations
from typing import Any

import islpy as isl

from ...poly.computation import Copies, Value

_IN, _OUT, _SET = isl.dim_type.in_, isl.dim_type.out, isl.dim_type.set
_BITWISE = frozenset({"arith.andi", "arith.ori", "arith.xori"})
_EXTREMA = frozenset(f"arith.{name}" for name in ("maxsi", "minsi", "maxui", "minui", "maximumf", "minimumf"))
ANY_ORDER = frozenset({"arith.muli", "arith.mulf"}) | _BITWISE | _EXTREMA  # floats only if that is allowed
_WRAPPING = _BITWISE | {"", "arith.muli"}  # no bit depends on higher ones; "" are sums of products
_CASTS = ("arith.trunci", "arith.extsi", "arith.extui")
_SIGNS = {"arith.addi": "++", "arith.addf": "++", "arith.subi": "+-", "arith.subf": "+-", "arith.negf": "-"}
_CONSTANTS = (("0", "0.000000e+00", "-0.000000e+00", "false"), ("1", "1.000000e+00", "true"))
DEFINED = Value("a value", 0, ("a value",))  # stands for any value that does not depend on undefined elements

type _Factors = tuple[tuple[Value, int], ...]  # with the number of dimensions of their iterations
type _Sources = Callable[[Value], Copies]
type _Demand = Callable[[Value, Value, isl.Map], None]
type _Step = tuple[
    _Factors, bool, isl.Map
]  # a product, whether it is subtracted, and in which iterations it is one
type _Law = tuple[tuple[Value, ...], bool, isl.Map]


class Wrong(Exception):
    """A certificate that proves nothing."""


def related(told: Sequence[Any]) -> isl.Map:
    """The iterations in which two sums are said to be equal."""
    return isl.Map(told[1][0]).reverse().apply_range(isl.Map(told[2][0]))


class SumCheck:
    """Two sums of one type; `demand` raises Wrong unless values are equal in related iterations."""

    def __init__(
        self, told: Sequence[Any], sources: Sequence[_Sources], roots: Sequence[Value], demand: _Demand
    ):
        self.operation, *self.states, self.matches = told
        self.sources, self.roots, self.demand = sources, roots, demand
        self.type = roots[0].label[1]
        self.bits = bits_of(self.type) if self.operation in _WRAPPING else 0  # that count

    def run(self, reassociate: bool) -> None:
        """Raises Wrong unless the terms are the same."""
        if self.operation and self.operation not in ANY_ORDER:
            raise Wrong(f"`{self.operation}` has an order")
        if self.type != self.roots[1].label[1] or not (reassociate or bits_of(self.type)):
            raise Wrong(f"the order of terms of {self.roots[0].name} matters")
        terms = [self._terms(*one) for one in zip(self.sources, self.roots, self.states, strict=True)]
        parts: tuple[list[list[isl.Map]], ...] = tuple([[] for _ in side] for side in terms)
        for first, second, order, text in self.matches:
            pairs = isl.Map(text)
            (ones, minus, whole), (others, also, all_others) = terms[0][first], terms[1][second]
            if minus != also or sorted(order) != list(range(len(ones))) or len(ones) != len(others):
                raise Wrong("two terms of sums are different")
            mutual = pairs.uncurry().is_single_valued() and pairs.range_reverse().uncurry().is_single_valued()
            if not mutual or not pairs.is_subset(whole.range_product(all_others)):
                raise Wrong("terms of sums are not matched one to one")
            for k, (value, _) in enumerate(ones):
                iterations = _part(_part(pairs.range().unwrap(), _IN, ones, k), _OUT, others, order[k])
                self.demand(value, others[order[k]][0], iterations)
            parts[0][first].append(pairs.range_factor_domain())
            parts[1][second].append(pairs.range_factor_range())
        for side, matched in zip(terms, parts, strict=True):
            if not all(_are_parts(some, whole) for (_, _, whole), some in zip(side, matched, strict=True)):
                raise Wrong("a term of a sum is not matched once")

    def _terms(self, sources: _Sources, root: Value, told: Sequence[Any]) -> list[_Step]:
        """The states in the order told; the maps of those that are taken apart become empty."""
        start, states = isl.Map(told[0]), told[1]
        numbers = {_key(factors, minus): k for k, (factors, minus, _, _) in enumerate(states)}
        maps, positions = [isl.Map(state[3]) for state in states], [state[2] for state in states]
        incoming: list[list[isl.Map]] = [[] for _ in states]
        first = numbers[_key([(root.name, start.dim(_OUT))], False)]
        if positions[first] < 0 or not start.is_single_valued():
            raise Wrong(
                f"{root.name} is said to be its own term, or an iteration of both sums is not one of each"
            )
        incoming[first].append(start)
        found: dict[int, tuple[_Factors, bool]] = {first: (((root, start.dim(_OUT)),), False)}
        waiting = [first]
        for k in waiting:  # which grows
            factors, minus = found[k]
            for target, flips, step in self._steps(sources, factors, positions[k], maps[k]):
                image = maps[k].apply_range(step)
                if image.is_empty():
                    continue
                reached = maps[k].range_map().apply_range(step)
                if not maps[k].domain_map().range_product(reached).is_injective():
                    raise Wrong("a term is added more than once")
                other = numbers.get(
                    _key([(value.name, width) for value, width in target], minus != flips), -1
                )
                if other < 0:
                    raise Wrong(f"the certificate does not tell all terms of {root.name}")
                incoming[other].append(image)
                if other not in found:
                    found[other] = (target, minus != flips)
                    waiting.append(other)
        if len(found) < len(states) or not all(map(_are_parts, incoming, maps)):
            raise Wrong(f"the terms told of {root.name} are not those of its operands")
        nothing = isl.Map.empty(start.get_space())
        return [(*found[k], maps[k] if positions[k] < 0 else nothing) for k in range(len(states))]

    def _steps(self, sources: _Sources, factors: _Factors, at: int, whole: isl.Map) -> Iterator[_Step]:
        """What taking a factor apart leads to: products, whether the sign changes, in which iterations."""
        if at < 0:
            return
        value, width = factors[at]
        if self._is_constant(value, 0) and self.operation in ("", "arith.ori", "arith.xori"):
            matters = (
                not self.bits and sources is self.sources[1]
            )  # a float may be infinite, but must have a value
            for k in range(len(factors) if matters else 0):
                points = _part(whole, _OUT, factors, k).range()
                self.demand(DEFINED, factors[k][0], isl.Map.from_range(points))
            return
        sizes = sum(w for _, w in factors[:at]), sum(w for _, w in factors[at + 1 :])
        before, after = (_same(size) for size in sizes)
        for values, flips, inner in self._law(sources, value, _same(width)):
            new = tuple((one, inner.dim(_OUT) // len(values)) for one in values)
            step = before.flat_product(inner).flat_product(after)
            yield (*factors[:at], *new, *factors[at + 1 :]), flips, step

    def _law(self, sources: _Sources, value: Value, same: isl.Map) -> list[_Law]:
        """The same for a single value: it is the sum of products of values, of which some are negative."""
        more = same.dim(_IN) - value.depth
        if value.is_choice:
            cases = [(one, through.add_dims(_IN, more).domain()) for one, through in sources(value)]
            return [((one,), False, same.intersect_domain(case)) for one, case in cases]
        if value.is_copy:
            return [((one,), False, through.add_dims(_IN, more)) for one, through in sources(value)]
        if self._is_constant(value, 1) and not self.operation:
            return [((), False, same.project_out(_OUT, 0, same.dim(_OUT)))]
        name, kind = value.label[:2]
        keeps = name in _CASTS and min(bits_of(kind), bits_of(value.label[2])) >= self.bits > 0
        fits = self._fits(value)
        if fits and name in ("arith.muli", "arith.mulf") and not self.operation:
            return [(value.operands, False, same.flat_range_product(same))]
        signs = "++" if name == self.operation else "" if self.operation else _SIGNS.get(name, "")
        signs = "+" if keeps else signs if fits else ""
        if not signs:
            raise Wrong(f"{value.name} cannot be taken apart")
        return [((one,), sign == "-", same) for one, sign in zip(value.operands, signs, strict=True)]

    def _fits(self, value: Value) -> bool:
        """Whether a value has the bits that count, or the type of the sum."""
        kind = value.label[1]
        return bits_of(kind) >= self.bits if self.bits else kind == self.type

    def _is_constant(self, value: Value, number: int) -> bool:
        """Whether a value of the sum's type is always 0, or always 1."""
        if value.label[:1] == ("index",) and value.number is not None:
            always = value.number.range().is_subset(isl.Set(f"{{ [{number}] }}"))
        else:
            text = value.label[-1].removeprefix("value=").split(" : ")[0] if value.label else ""
            always = value.label[:1] == ("arith.constant",) and text in _CONSTANTS[number]
        return always and self._fits(value)


def bits_of(kind: str) -> int:
    """How many bits an integer type has; 0 for others."""
    return int(kind[1:]) if kind[:1] == "i" and kind[1:].isdigit() else 0


def _same(depth: int) -> isl.Map:
    return isl.Map.identity(isl.Space.alloc(isl.DEFAULT_CONTEXT, 0, depth, depth))


def _are_parts(parts: Sequence[isl.Map], whole: isl.Map) -> bool:
    """Whether maps are a partition of another one."""
    union = reduce(isl.Map.union, parts, isl.Map.empty(whole.get_space()))
    return union.is_equal(whole) and all(one.is_disjoint(other) for one, other in combinations(parts, 2))


def _part(relation: isl.Map, side: isl.dim_type, factors: _Factors, number: int) -> isl.Map:
    """The dimensions of one factor."""
    first = sum(width for _, width in factors[:number])
    end = first + factors[number][1]
    return relation.project_out(side, end, relation.dim(side) - end).project_out(side, 0, first)


def _key(factors: Sequence[Sequence[Any]], minus: bool) -> tuple[Any, bool]:
    return tuple((name, width) for name, width in factors), minus
