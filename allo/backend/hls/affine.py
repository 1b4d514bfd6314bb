"""Decides how affine expressions and conditions read in C++."""

from __future__ import annotations

from collections.abc import Sequence

from mlir import ir

from ...ir.affine_sets import constraints_of
from .expression import UNARY, Expr, infix


def affine_exprs(affine_map: ir.AffineMap, operands: Sequence[Expr], positive: Sequence[bool]) -> list[Expr]:
    """The results of a map; `positive` says which operands are never negative."""
    writer = _Writer(affine_map.n_dims, operands, positive)
    return [writer.text(expr) for expr in affine_map.results]


def never_negative(affine_map: ir.AffineMap, positive: Sequence[bool]) -> bool:
    """Whether all results of a map are at least 0 where those operands are that `positive` says."""
    writer = _Writer(affine_map.n_dims, (), positive)
    return all(writer.positive(expr) for expr in affine_map.results)


def condition(given: ir.Attribute, operands: Sequence[Expr], positive: Sequence[bool]) -> Expr:
    """The conjunction that the condition of an `affine.if` is."""
    affine_map, equalities = constraints_of(given)
    writer = _Writer(affine_map.n_dims, operands, positive)
    result: Expr | None = None
    for expr, equal in zip(affine_map.results, equalities, strict=True):
        term = writer.constraint(expr, equal)
        result = term if result is None else infix("&&", result, term, "bool")
    return result or Expr("true", type="bool")


def _terms(expr: ir.AffineExpr) -> list[ir.AffineExpr]:
    return [*_terms(expr.lhs), *_terms(expr.rhs)] if isinstance(expr, ir.AffineAddExpr) else [expr]


def _number(value: int) -> Expr:
    return Expr(str(value), UNARY if value < 0 else 12)


class _Writer:
    """The operands of one map; dimensions first, then symbols."""

    def __init__(self, dims: int, operands: Sequence[Expr], positive: Sequence[bool]) -> None:
        self.dims = dims
        self.operands = operands
        self.signs = positive

    def _place(self, expr: ir.AffineExpr) -> int:
        position = int(expr.position)
        return position if isinstance(expr, ir.AffineDimExpr) else self.dims + position

    def positive(self, expr: ir.AffineExpr) -> bool:
        """Whether it is certainly at least 0."""
        if isinstance(expr, ir.AffineConstantExpr):
            return bool(expr.value >= 0)
        if isinstance(expr, ir.AffineDimExpr | ir.AffineSymbolExpr):
            return self.signs[self._place(expr)]
        if isinstance(expr, ir.AffineModExpr):
            return True
        return self.positive(expr.lhs) and self.positive(expr.rhs)

    def text(self, expr: ir.AffineExpr) -> Expr:
        if isinstance(expr, ir.AffineConstantExpr):
            return _number(expr.value)
        if isinstance(expr, ir.AffineDimExpr | ir.AffineSymbolExpr):
            return self.operands[self._place(expr)]
        if isinstance(expr, ir.AffineAddExpr):
            return self._sum(expr)
        if isinstance(expr, ir.AffineMulExpr):
            return infix("*", self.text(expr.lhs), self.text(expr.rhs))
        if isinstance(expr, ir.AffineModExpr):
            return self._quotient("%", "floor_mod", expr)
        if isinstance(expr, ir.AffineFloorDivExpr):
            return self._quotient("/", "floor_div", expr)
        return self._function("ceil_div", expr)

    def _quotient(self, operator: str, function: str, expr: ir.AffineExpr) -> Expr:
        if self.positive(expr.lhs):
            return infix(operator, self.text(expr.lhs), self.text(expr.rhs))
        return self._function(function, expr)

    def _function(self, name: str, expr: ir.AffineExpr) -> Expr:
        lhs, rhs = self.text(expr.lhs), self.text(expr.rhs)
        return Expr(
            f"{name}<int>({lhs.text}, {rhs.text})", reads=lhs.reads or rhs.reads, kind="call", type="int"
        )

    def _signed(self, term: ir.AffineExpr) -> tuple[int, Expr]:
        """The sign of a term, and the term without it."""
        if isinstance(term, ir.AffineConstantExpr):
            return (1 if term.value >= 0 else -1), _number(abs(term.value))
        if (
            isinstance(term, ir.AffineMulExpr)
            and isinstance(term.rhs, ir.AffineConstantExpr)
            and term.rhs.value < 0
        ):
            inner = self.text(term.lhs)
            return -1, inner if term.rhs.value == -1 else infix("*", inner, _number(-term.rhs.value))
        return 1, self.text(term)

    def _sum(self, expr: ir.AffineExpr) -> Expr:
        result: Expr | None = None
        for sign, text in sorted(map(self._signed, _terms(expr)), key=lambda pair: -pair[0]):
            if result is None:
                result = text if sign > 0 else infix("-", _number(0), text)
            else:
                result = infix("+" if sign > 0 else "-", result, text)
        assert result is not None
        return result

    def constraint(self, expr: ir.AffineExpr, equal: bool) -> Expr:
        """`expr >= 0` or `expr == 0` with what is subtracted on the other side."""
        sides: tuple[list[Expr], list[Expr]] = ([], [])
        for term in _terms(expr):
            sign, text = self._signed(term)
            sides[0 if sign > 0 else 1].append(text)
        left, right = (self._total(side) for side in sides)
        return infix("==" if equal else ">=", left, right, "bool")

    def _total(self, texts: list[Expr]) -> Expr:
        result = texts[0] if texts else _number(0)
        for text in texts[1:]:
            result = infix("+", result, text)
        return result
