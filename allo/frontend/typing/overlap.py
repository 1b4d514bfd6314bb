"""Overlap of two parts of an array: whether they may have elements in common."""

from __future__ import annotations

import math

from ...ir.types import DYNAMIC, AlloType, Index, Int, UInt, index
from .nodes import Binary, Cast, Const, Expr, Symbol, SymbolKind, Var
from .view import View

type Form = dict[Symbol | None, int]  # a sum of multiples of variables, the constant under None


def may_share(first: View, second: View) -> bool:
    """Whether an element may be in both parts, which are of one array; False only if they surely have none."""
    assert first.place is not None and second.place is not None
    extents: dict[Symbol, int] = {}
    elements = []
    for view, place in ((first, first.place), (second, second.place)):
        probes = [Symbol(f"position_{d}", SymbolKind.LOOP, index, view.at) for d in range(len(view.type.shape))]
        extents.update(zip(probes, view.type.shape, strict=True))
        elements.append(place(tuple(Var(index, view.at, probe) for probe in probes)).indices)
    return not any(_differ(one, other, extents) for one, other in zip(*elements, strict=True))


def _differ(one: Expr, other: Expr, extents: dict[Symbol, int]) -> bool:
    """Whether two subscripts are different for all positions in the parts."""
    left, right = _form(one), _form(other)
    if left is None or right is None:
        return False
    difference = {term: left.get(term, 0) - right.get(term, 0) for term in {**left, **right}}
    constant = difference.pop(None, 0)
    terms = {term: factor for term, factor in difference.items() if factor}
    if any(term not in extents or extents[term] == DYNAMIC for term in terms if term is not None):
        return False
    ends = [factor * (extents[term] - 1) for term, factor in terms.items() if term is not None]
    low, high = constant + sum(e for e in ends if e < 0), constant + sum(e for e in ends if e > 0)
    divisor = math.gcd(*terms.values())
    return low > 0 or high < 0 or (divisor > 0 and constant % divisor != 0)


def _form(expr: Expr) -> Form | None:
    match expr:
        case Const(value=int() as value):
            return {None: int(value)}
        case Var(symbol=symbol):
            return {symbol: 1}
        case Cast(operand=operand):
            return _form(operand) if expr.exact or _keeps(operand.type, expr.type) else None
        case Binary(op="+" | "-" as op, lhs=lhs, rhs=rhs):
            left, right = _form(lhs), _form(rhs)
            if left is None or right is None:
                return None
            sign = 1 if op == "+" else -1
            return {term: left.get(term, 0) + sign * right.get(term, 0) for term in {**left, **right}}
        case Binary(op="*", lhs=lhs, rhs=rhs):
            left, right = _form(lhs), _form(rhs)
            for factor, other in ((left, right), (right, left)):
                if factor is not None and other is not None and set(factor) == {None}:
                    return {term: factor[None] * multiple for term, multiple in other.items()}
    return None


def _keeps(source: AlloType, target: AlloType) -> bool:
    """Whether a conversion keeps every integer."""
    if isinstance(target, Index) or source == target:
        return isinstance(source, Int | UInt | Index)
    if isinstance(target, UInt):
        return isinstance(source, UInt) and source.width <= target.width
    return isinstance(target, Int) and isinstance(source, Int | UInt | Index) and source.bits < target.width
