"""Nest of loops of an operator, and how it reads its arrays: one structured operation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace
from typing import Any

from ...ir.types import index as index_type
from ..read.source import Position
from ..typing.nodes import (
    Binary,
    Cast,
    Const,
    Declare,
    Element,
    Expr,
    For,
    Load,
    Stmt,
    Structured,
    Symbol,
    SymbolKind,
    Var,
)
from ..typing.view import View

type Subscript = tuple[int, tuple[tuple[int, int], ...]]  # a constant, and (loop, factor)s
type Subscripts = tuple[Subscript, ...]


def along(*loops: int) -> Subscripts:
    """Subscripts that are one loop each."""
    return tuple((0, ((loop, 1),)) for loop in loops)


def is_one_loop(terms: tuple[tuple[int, int], ...]) -> bool:
    """Whether a sum of loops is one loop."""
    return len(terms) == 1 and terms[0][1] == 1


def _simple(subscript: Subscript) -> bool:
    """Whether a subscript is a loop, or a constant."""
    constant, terms = subscript
    return not terms or (constant == 0 and is_one_loop(terms))


def linear_form(expr: Expr, loops: dict[Symbol, int]) -> Subscript | None:
    """An index expression as a constant plus factors times `loops`; None if it is something else."""
    match expr:
        case Const(value=value) if isinstance(value, int):
            return int(value), ()
        case Var(symbol=symbol) if symbol in loops:
            return 0, ((loops[symbol], 1),)
        case Cast(operand=operand, exact=True):
            return linear_form(operand, loops)
        case Cast(operand=operand) if operand.type.bits <= expr.type.bits:
            return linear_form(operand, loops)
        case Binary(op="+" | "-" | "*" as op, lhs=lhs, rhs=rhs):
            first, second = linear_form(lhs, loops), linear_form(rhs, loops)
            if first is None or second is None:
                return None
            if op == "*":
                if first[1] and second[1]:
                    return None
                return _scaled(first, second[0]) if first[1] else _scaled(second, first[0])
            return _sum(first, second if op == "+" else _scaled(second, -1))
    return None


def _scaled(form: Subscript, factor: int) -> Subscript:
    return form[0] * factor, tuple((loop, f * factor) for loop, f in form[1] if factor)


def _sum(first: Subscript, second: Subscript) -> Subscript:
    factors: dict[int, int] = dict(first[1])
    for loop, factor in second[1]:
        factors[loop] = factors.get(loop, 0) + factor
    return first[0] + second[0], tuple((loop, f) for loop, f in sorted(factors.items()) if f)


class OperatorNest:
    """The loops of one operation, and what their body reads; the last `reductions` loops accumulate."""

    def __init__(self, at: Position, name: str, loops: Sequence[tuple[str, int]], reductions: int = 0) -> None:
        self.at = at
        self.name = name
        self.loops = tuple(Symbol(loop, SymbolKind.LOOP, index_type, at) for loop, _ in loops)
        self.extents = tuple(extent for _, extent in loops)
        self.reductions = reductions
        self.inputs: list[Element] = []
        self.scalars: list[tuple[Symbol, Expr]] = []

    @property
    def variables(self) -> tuple[Expr, ...]:
        """The loops as index values."""
        return tuple(Var(index_type, self.at, loop) for loop in self.loops)

    def read(self, view: View, subscripts: Subscripts) -> Expr | None:
        """An element of an array, at subscripts of this nest; None where the array must be copied first."""
        places = [Symbol(f"d{d}", SymbolKind.LOOP, index_type, self.at) for d in range(len(subscripts))]
        element = view.read(tuple(Var(index_type, self.at, place) for place in places))
        if not isinstance(element, Load):
            return None
        positions = {place: d for d, place in enumerate(places)}
        composed = []
        for index in element.indices:
            form = linear_form(index, positions)
            if form is None or (self.reductions and not _simple(form)):
                return None
            total: Subscript = (form[0], ())
            for d, factor in form[1]:
                total = _sum(total, _scaled(subscripts[d], factor))
            composed.append(total)
        return self._element(element, tuple(composed)) if self._fits(element.tensor, composed) else None

    def _fits(self, tensor: Symbol, subscripts: Sequence[Subscript]) -> bool:
        """Whether a dimension that is read along a loop has as many elements as the loop has iterations.

        `linalg` takes the extents of its loops from there, so that the first elements of an array are no operand.
        """
        shape = getattr(tensor.type, "shape", ())
        return all(
            constant != 0 or not is_one_loop(terms) or extent == self.extents[terms[0][0]]
            for extent, (constant, terms) in zip(shape, subscripts, strict=True)
        )

    def _element(self, load: Load, subscripts: Subscripts) -> Expr:
        symbol = Symbol(load.tensor.name, SymbolKind.SCALAR, load.type, self.at)
        self.inputs.append(Element(load.tensor, subscripts, symbol))
        return Var(load.type, self.at, symbol)

    def scalar(self, value: Expr) -> Expr:
        """A value that is the same in all iterations, computed in front."""
        if isinstance(value, Const):
            return value
        for symbol, known in self.scalars:
            if known == value:
                return Var(value.type, value.at, symbol)
        symbol = Symbol("scalar", SymbolKind.SCALAR, value.type, self.at)
        self.scalars.append((symbol, value))
        return Var(value.type, value.at, symbol)

    def inlined(self, expr: Expr) -> Expr | None:
        """An expression over elements at the loops, with its reads as operands; None if one is not affine."""
        if isinstance(expr, Load):
            forms = [linear_form(index, {loop: d for d, loop in enumerate(self.loops)}) for index in expr.indices]
            if any(form is None for form in forms):
                return None
            subscripts = tuple(form for form in forms if form is not None)
            if not self._fits(expr.tensor, subscripts):
                return None
            for known in self.inputs:
                if known.tensor is expr.tensor and known.subscripts == subscripts:
                    return Var(expr.type, expr.at, known.symbol)
            return self._element(expr, subscripts)
        if isinstance(expr, Var):
            return expr if expr.symbol in self.loops else self.scalar(expr)
        changed: dict[str, Any] = {}
        for field in fields(expr):
            value = getattr(expr, field.name)
            parts = value if isinstance(value, tuple) else (value,)
            if not any(isinstance(part, Expr) for part in parts):
                if field.name == "call":
                    return None
                continue
            inner = tuple(self.inlined(part) if isinstance(part, Expr) else part for part in parts)
            if None in inner:
                return None
            changed[field.name] = inner if isinstance(value, tuple) else inner[0]
        return replace(expr, **changed)

    def statement(
        self,
        target: Symbol,
        value: Expr,
        operation: str = "generic",
        *,
        subscripts: Subscripts | None = None,
        old: Symbol | None = None,
        options: tuple[tuple[str, tuple[int, ...]], ...] = (),
    ) -> Structured:
        """The operation that writes `value` to `target`; `old` names the element that it had."""
        rank = len(self.loops) - self.reductions
        symbol = old or Symbol("old", SymbolKind.SCALAR, _element_type(target), self.at)
        output = Element(target, along(*range(rank)) if subscripts is None else subscripts, symbol)
        return Structured(
            self.at,
            self.name,
            operation,
            self.loops,
            self.extents,
            self.reductions,
            tuple(self.inputs),
            output,
            tuple(self.scalars),
            value,
            options,
        )


def _element_type(tensor: Symbol) -> Any:
    return getattr(tensor.type, "element", tensor.type)


def loops(nest: OperatorNest, body: Stmt) -> Stmt:
    """`body` in plain loops, where no structured operation means it."""
    statement = body
    for position in reversed(range(len(nest.loops))):
        bounds = (Const(index_type, nest.at, 0), Const(index_type, nest.at, nest.extents[position]))
        label = nest.name if position == 0 else None
        one = Const(index_type, nest.at, 1)
        statement = For(nest.at, nest.loops[position], *bounds, one, label, (statement,))
    return statement


def temporary(name: str, tensor: Any, at: Position) -> tuple[Symbol, Declare]:
    """A new array with its declaration."""
    symbol = Symbol(name, SymbolKind.TENSOR, tensor, at)
    return symbol, Declare(at, symbol, None)
