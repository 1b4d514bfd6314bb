"""Affine expressions and conditions in C++."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from mlir import ir

from ....ir.affine_sets import constraints_of
from .expression import UNARY, Expr, convert, infix

_INT = 1 << 31  # up to which an `int` counts
LOOP = 1 << 20  # up to which subscripts and variables of loops are taken to count


class _Number(NamedTuple):
    value: int


class _Operand(NamedTuple):
    place: int  # dimensions first, then symbols


class _Sum(NamedTuple):
    """The terms that are added, and those that are subtracted, each without its sign."""

    added: tuple[_Form, ...]
    subtracted: tuple[_Form, ...]


class _Product(NamedTuple):
    lhs: _Form
    rhs: _Form


class _Quotient(NamedTuple):
    """A division: by the operator of C++ where the dividend is not negative, else by the function."""

    operator: str
    function: str
    lhs: _Form
    rhs: _Form


type _Form = _Number | _Operand | _Sum | _Product | _Quotient


class AffineCode:
    """The maps and sets of one file, each read from MLIR once, and the functions of the prelude that they need."""

    def __init__(self, needs: set[str]) -> None:
        self.needs = needs
        self._maps: dict[ir.Attribute, tuple[_Form, ...]] = {}
        self._sets: dict[ir.Attribute, tuple[tuple[_Sum, bool], ...]] = {}

    def exprs(
        self, attribute: ir.Attribute, operands: Sequence[Expr], positive: Sequence[bool], most: Sequence[int]
    ) -> list[Expr]:
        """The results of a map; `positive` says which operands are never negative, `most` how far from 0 each is."""
        writer = _Writer(operands, positive, most, self.needs)
        return [writer.text(form) for form in self._results(attribute)]

    def bounds(
        self, attribute: ir.Attribute, operands: Sequence[Expr], positive: Sequence[bool], most: Sequence[int]
    ) -> list[Expr]:
        """The same of a bound of a loop; if there are several, they are compared, so that they are exact."""
        writer = _Writer(operands, positive, most, self.needs)
        forms = self._results(attribute)
        return [writer.exact(form) if len(forms) > 1 else writer.text(form) for form in forms]

    def never_negative(self, attribute: ir.Attribute, positive: Sequence[bool]) -> bool:
        """Whether all results of a map are at least 0 where those operands are that `positive` says."""
        writer = _Writer((), positive, (), self.needs)
        return all(writer.positive(form) for form in self._results(attribute))

    def condition(
        self, given: ir.Attribute, operands: Sequence[Expr], positive: Sequence[bool], most: Sequence[int]
    ) -> Expr:
        """The conjunction that the condition of an `affine.if` is."""
        writer = _Writer(operands, positive, most, self.needs)
        result: Expr | None = None
        for form, equal in self._constraints(given):
            term = writer.constraint(form, equal)
            result = term if result is None else infix("&&", result, term, "bool")
        return result or Expr("true", type="bool")

    def _results(self, attribute: ir.Attribute) -> tuple[_Form, ...]:
        known = self._maps.get(attribute)
        if known is None:
            affine_map = ir.AffineMapAttr(attribute).value
            known = tuple(_form(expr, affine_map.n_dims) for expr in affine_map.results)
            if affine_map.n_inputs or known == (_Number(0),):  # other constants are as many as there are extents
                self._maps[attribute] = known
        return known

    def _constraints(self, given: ir.Attribute) -> tuple[tuple[_Sum, bool], ...]:
        """The left sides of `e >= 0` and `e == 0`, and whether it is an equality."""
        known = self._sets.get(given)
        if known is None:
            affine_map, equalities = constraints_of(given)
            sums = (_sum(expr, affine_map.n_dims) for expr in affine_map.results)
            known = self._sets[given] = tuple(zip(sums, equalities, strict=True))
        return known


def _form(expr: ir.AffineExpr, dims: int) -> _Form:
    if isinstance(expr, ir.AffineConstantExpr):
        return _Number(expr.value)
    if isinstance(expr, ir.AffineDimExpr):
        return _Operand(expr.position)
    if isinstance(expr, ir.AffineSymbolExpr):
        return _Operand(dims + expr.position)
    if isinstance(expr, ir.AffineAddExpr):
        return _sum(expr, dims)
    lhs, rhs = _form(expr.lhs, dims), _form(expr.rhs, dims)
    if isinstance(expr, ir.AffineMulExpr):
        return _Product(lhs, rhs)
    if isinstance(expr, ir.AffineModExpr):
        return _Quotient("%", "floor_mod", lhs, rhs)
    if isinstance(expr, ir.AffineFloorDivExpr):
        return _Quotient("/", "floor_div", lhs, rhs)
    return _Quotient("", "ceil_div", lhs, rhs)


def _terms(expr: ir.AffineExpr, dims: int) -> list[_Form]:
    if isinstance(expr, ir.AffineAddExpr):
        return [*_terms(expr.lhs, dims), *_terms(expr.rhs, dims)]
    return [_form(expr, dims)]


def _sum(expr: ir.AffineExpr, dims: int) -> _Sum:
    added: list[_Form] = []
    subtracted: list[_Form] = []
    for term in _terms(expr, dims):
        match term:
            case _Number(value) if value < 0:
                subtracted.append(_Number(-value))
            case _Product(lhs, _Number(-1)):
                subtracted.append(lhs)
            case _Product(lhs, _Number(value)) if value < 0:
                subtracted.append(_Product(lhs, _Number(-value)))
            case _:
                added.append(term)
    return _Sum(tuple(added), tuple(subtracted))


# -- text --------------------------------------------------------------------------------------------


def _number(value: int) -> Expr:
    return Expr(str(value), UNARY if value < 0 else 12)


class _Writer:
    """The operands of one map.

    What is compared or divided is exact: scalars in sums that an `int` may not hold count as `int64_t` there. In other
    sums, as of subscripts, they do not, since these numbers mean no element.
    """

    __slots__ = ("limits", "needs", "operands", "signs")

    def __init__(
        self, operands: Sequence[Expr], positive: Sequence[bool], most: Sequence[int], needs: set[str]
    ) -> None:
        self.operands = operands
        self.signs = positive
        self.limits = most
        self.needs = needs

    def positive(self, form: _Form) -> bool:
        """Whether it is certainly at least 0."""
        match form:
            case _Operand(place):
                return self.signs[place]
            case _Number(value):
                return value >= 0
            case _Sum(added, subtracted):
                return not subtracted and all(map(self.positive, added))
            case _Quotient("%", _, _, _):
                return True
        return self.positive(form.lhs) and self.positive(form.rhs)

    def most(self, form: _Form) -> int:
        """How far from 0 it may be, and all on the way to it."""
        match form:
            case _Operand(place):
                return self.limits[place]
            case _Number(value):
                return abs(value)
            case _Sum(added, subtracted):
                return sum(map(self.most, (*added, *subtracted)))
            case _Product(lhs, rhs):
                return self.most(lhs) * self.most(rhs)
        return self.most(form.lhs)

    def exact(self, form: _Form) -> Expr:
        """A number in a type that holds it."""
        is_wide = self.most(form) > _INT
        made = self.text(form, is_wide)
        return made._replace(type="int64_t") if is_wide else made

    def text(self, form: _Form, is_wide: bool = False) -> Expr:
        match form:
            case _Operand(place):
                made = self.operands[place]
                return convert("int64_t", made) if is_wide and self.limits[place] != LOOP else made
            case _Number(value):
                return _number(value)
            case _Sum():
                return self._sum(form, is_wide)
            case _Product(lhs, rhs):
                return infix("*", self.text(lhs, is_wide), self.text(rhs, is_wide))
        is_wide = self.most(form.lhs) > _INT
        dividend, divisor = self.text(form.lhs, is_wide), self.text(form.rhs)
        if form.operator and self.positive(form.lhs):
            return infix(form.operator, dividend, divisor)
        return self._function(form.function, dividend, divisor, "int64_t" if is_wide else "int")

    def _function(self, name: str, lhs: Expr, rhs: Expr, kind: str) -> Expr:
        self.needs.add(name)
        return Expr(
            f"{name}<{kind}>({lhs.text}, {rhs.text})", reads=lhs.reads or rhs.reads, kind="call", type=kind
        )

    def _sum(self, form: _Sum, is_wide: bool) -> Expr:
        result = self._total(form.added, is_wide)
        for term in form.subtracted:
            result = infix("-", result, self.text(term, is_wide))
        return result

    def constraint(self, form: _Sum, equal: bool) -> Expr:
        """`form >= 0` or `form == 0` with what is subtracted on the other side."""
        sides = [(terms, sum(map(self.most, terms)) > _INT) for terms in (form.added, form.subtracted)]
        added, subtracted = (self._total(*side) for side in sides)
        return infix("==" if equal else ">=", added, subtracted, "bool")

    def _total(self, terms: Sequence[_Form], is_wide: bool) -> Expr:
        if not terms:
            return _number(0)
        result = self.text(terms[0], is_wide)
        for term in terms[1:]:
            result = infix("+", result, self.text(term, is_wide))
        return result
