"""Constant terms of affine maps and conditions as symbols of their own, for what their text has in common."""

from __future__ import annotations

from mlir import ir

from ....ir.affine_sets import constraints_of
from ....ir.builder import affine_constant
from ....ir.context import context
from ....ir.mlir_types import integer_of

_BINARY = {
    ir.AffineMulExpr: ir.AffineExpr.get_mul,
    ir.AffineModExpr: ir.AffineExpr.get_mod,
    ir.AffineFloorDivExpr: ir.AffineExpr.get_floor_div,
    ir.AffineCeilDivExpr: ir.AffineExpr.get_ceil_div,
}

type Opened = tuple[ir.Attribute, tuple[int, ...]]  # with further symbols, and the values of these, at least 0


def open_map(attribute: ir.Attribute) -> Opened | None:
    """A map whose constant terms are symbols; None if it has none that C++ writes as plain digits."""
    given = ir.AffineMapAttr(attribute).value
    opening = _Opening(given.n_symbols)
    results = [opening.number(expr.value) if _is_number(expr) else opening.expr(expr) for expr in given.results]
    if not opening.numbers:
        return None
    symbols = given.n_symbols + len(opening.numbers)
    opened = ir.AffineMap.get(given.n_dims, symbols, results, context())
    return ir.AffineMapAttr.get(opened), tuple(opening.numbers)


def open_condition(attribute: ir.Attribute) -> Opened | None:
    """The same of the condition of an `affine.if`."""
    given, equalities = constraints_of(attribute)
    opening = _Opening(given.n_symbols)
    results = [opening.side(expr) for expr in given.results]
    if not opening.numbers:
        return None
    symbols = given.n_symbols + len(opening.numbers)
    opened = ir.IntegerSet.get(given.n_dims, symbols, results, list(equalities), context())
    return ir.IntegerSetAttr.get(opened), tuple(opening.numbers)


def open_constant(attribute: ir.Attribute) -> Opened | None:
    """The value of a constant as one, with 0 in its place; None if it is no number that is at least 0 in an `int`."""
    if not isinstance(attribute, ir.IntegerAttr):
        return None
    kind, value = attribute.type, integer_of(attribute)
    width = kind.width if isinstance(kind, ir.IntegerType) else 64
    if width == 1 or not 0 <= value < 1 << min(width - 1, 31):
        return None
    return ir.IntegerAttr.get(kind, 0), (value,)


class _Opening:
    """The constants of one attribute, in the order in which they are met; its own symbols are the first ones."""

    def __init__(self, symbols: int) -> None:
        self._symbols = symbols
        self.numbers: list[int] = []

    def number(self, value: int) -> ir.AffineExpr:
        """A constant that stands by itself."""
        return self._symbol(value) if value >= 0 else affine_constant(value)

    def expr(self, expr: ir.AffineExpr) -> ir.AffineExpr:
        """An expression whose sums have symbols for their constants, which keep their sign."""
        if isinstance(expr, ir.AffineAddExpr):
            if _is_number(expr.rhs):
                return self._added(self.expr(expr.lhs), expr.rhs.value)
            return self.expr(expr.lhs) + self.expr(expr.rhs)
        make = _BINARY.get(type(expr))
        return expr if make is None else make(self.expr(expr.lhs), expr.rhs)

    def side(self, expr: ir.AffineExpr) -> ir.AffineExpr:
        """The left side of a constraint: where all else is on one side of its comparison, 0 is a number like others."""
        rest, value = expr, 0
        if isinstance(expr, ir.AffineAddExpr) and _is_number(expr.rhs):
            rest, value = expr.lhs, expr.rhs.value
        signs = {_is_subtracted(term) for term in _terms(rest)}
        if value or _is_number(rest):
            return self.expr(expr)
        if signs == {False}:
            return self.expr(rest) - self._symbol(0)
        return self.expr(rest) + self._symbol(0) if signs == {True} else self.expr(rest)

    def _added(self, rest: ir.AffineExpr, value: int) -> ir.AffineExpr:
        return rest + self._symbol(value) if value > 0 else rest - self._symbol(-value)

    def _symbol(self, value: int) -> ir.AffineExpr:
        self.numbers.append(value)
        return ir.AffineExpr.get_symbol(self._symbols + len(self.numbers) - 1, context())


def _is_number(expr: ir.AffineExpr) -> bool:
    return isinstance(expr, ir.AffineConstantExpr)


def _terms(expr: ir.AffineExpr) -> list[ir.AffineExpr]:
    return [*_terms(expr.lhs), *_terms(expr.rhs)] if isinstance(expr, ir.AffineAddExpr) else [expr]


def _is_subtracted(term: ir.AffineExpr) -> bool:
    return isinstance(term, ir.AffineMulExpr) and _is_number(term.rhs) and term.rhs.value < 0
