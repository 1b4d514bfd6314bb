"""Affine index expressions, and the affine maps of accesses, bounds and conditions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from mlir import ir

from ...ir.builder import affine_constant, affine_dim
from ...ir.context import context
from ...ir.types import AlloType, Float, Index, Int, UInt
from ..typing.nodes import Binary, Cast, Compare, Const, Expr, Logic, Symbol, SymbolKind, Var
from ..typing.rules import as_integer

_LARGEST = 1 << 32  # of constants in affine maps, whose arithmetic has 64 bits and does not check


@dataclass(frozen=True, slots=True)
class AffineLoop:
    """The value of a loop variable: the induction variable, or for a negative step `lower + step * it`."""

    value: ir.Value
    lower: Expr | None = None
    step: int = 1


# what the function knows of a symbol: its affine loop, an index value that never changes in the function, or nothing
Resolver = Callable[[Symbol], "AffineLoop | ir.Value | None"]


@dataclass(slots=True)
class AffineMapBuilder:
    """Collects the operands of one affine map while its expressions are recognised."""

    resolve: Resolver
    operands: list[ir.Value] = field(default_factory=list)

    def dim(self, value: ir.Value) -> ir.AffineExpr:
        """The dimension that stands for `value`."""
        for position, known in enumerate(self.operands):
            if known == value:
                return affine_dim(position)
        self.operands.append(value)
        return affine_dim(len(self.operands) - 1)

    def of(self, expr: Expr) -> ir.AffineExpr | None:
        """The affine expression equal to `expr`, or None if there is none."""
        match expr:
            case Const(value=value) if isinstance(value, int):
                return affine_constant(int(value)) if abs(value) <= _LARGEST else None
            case Var(symbol=symbol) if symbol.kind in (SymbolKind.LOOP, SymbolKind.ARGUMENT):
                return self._variable(symbol)
            case Cast(operand=operand, exact=exact) if exact or _widens(operand, expr):
                return self.of(operand)
            case Binary():
                return self._binary(expr)
        return None

    def _variable(self, symbol: Symbol) -> ir.AffineExpr | None:
        known = self.resolve(symbol)
        if known is None:
            return None
        if not isinstance(known, AffineLoop):
            return self.dim(known)
        if known.lower is None:
            return self.dim(known.value)
        lower = self.of(known.lower)
        return None if lower is None else lower + self.dim(known.value) * known.step

    def _binary(self, expr: Binary) -> ir.AffineExpr | None:
        if expr.op not in ("+", "-", "*", "//", "%") or (expr.op == "*" and expr.type.bits > 64):
            return None
        if isinstance(expr.type, UInt) and _wraps(expr):
            return None
        if expr.op in ("//", "%") and not _is_index(expr.lhs):
            return None
        lhs, rhs = self.of(expr.lhs), self.of(expr.rhs)
        if lhs is None or rhs is None:
            return None
        match expr.op:
            case "+":
                return lhs + rhs
            case "-":
                return lhs - rhs
        left, right = _constant(expr.lhs), _constant(expr.rhs)
        match expr.op:
            case "*" if right is not None:
                return lhs * right
            case "*" if left is not None:
                return rhs * left
            case "//" if right is not None and right > 0:
                return ir.AffineExpr.get_floor_div(lhs, affine_constant(right))
            case "%" if right is not None and right > 0:
                return ir.AffineExpr.get_mod(lhs, affine_constant(right))
        return None

    def map(self, results: Sequence[ir.AffineExpr]) -> ir.AffineMap:
        """The map from the operands collected so far to `results`."""
        return ir.AffineMap.get(len(self.operands), 0, list(results), context())

    def all_of(self, exprs: Sequence[Expr]) -> list[ir.AffineExpr] | None:
        """Every expression of `exprs`, or None if one is not affine."""
        results = []
        for expr in exprs:
            result = self.of(expr)
            if result is None:
                return None
            results.append(result)
        return results

    def condition(self, expr: Expr) -> list[tuple[ir.AffineExpr, bool]] | None:
        """Constraints whose conjunction is `expr`: (e, True) means e == 0, (e, False) means e >= 0."""
        if isinstance(expr, Logic) and expr.op == "and":
            lhs, rhs = self.condition(expr.lhs), self.condition(expr.rhs)
            return None if lhs is None or rhs is None else lhs + rhs
        if not isinstance(expr, Compare) or expr.op == "!=" or isinstance(expr.lhs.type, Float):
            return None
        if not _is_index(expr.lhs) or not _is_index(expr.rhs):
            return None
        lhs_form, rhs_form = self.of(expr.lhs), self.of(expr.rhs)
        if lhs_form is None or rhs_form is None:
            return None
        match expr.op:
            case "==":
                return [(lhs_form - rhs_form, True)]
            case "<":
                return [(rhs_form - lhs_form - 1, False)]
            case "<=":
                return [(rhs_form - lhs_form, False)]
            case ">":
                return [(lhs_form - rhs_form - 1, False)]
            case _:
                return [(lhs_form - rhs_form, False)]


def _is_index(expr: Expr) -> bool:
    """Whether the scalars and numbers in an expression are some that an index holds, of 32 bits in C++ and hardware.

    A subscript or a bound that is none of these means no element and no loop that ends; a comparison, a quotient and a
    remainder mean what they mean for any number.
    """
    match expr:
        case Const(value=value):
            return -(1 << 31) <= value < 1 << 31
        case Var(symbol=symbol, type=kind):
            return symbol.kind is not SymbolKind.ARGUMENT or _widens_to_index(kind)
        case Cast(operand=operand):
            return _is_index(operand)
        case Binary(lhs=lhs, rhs=rhs):
            return expr.type.bits <= 62 and _is_index(lhs) and _is_index(rhs)
    return True


def _widens_to_index(kind: AlloType) -> bool:
    """Whether an `index` holds all numbers of a type."""
    integer = as_integer(kind)
    return integer is not None and integer.width <= 32 - isinstance(integer, UInt)


def _wraps(expr: Binary) -> bool:
    """Whether an unsigned result may be too narrow, which the rules of C++ allow; they let signed ones not wrap."""
    widths = [_width(expr.lhs), _width(expr.rhs)]
    match expr.op:
        case "+":
            return expr.type.bits <= max(widths)
        case "*":
            return expr.type.bits < sum(widths)
    return expr.op == "-"


def _width(expr: Expr) -> int:
    """The bits of a value before it was converted."""
    while isinstance(expr, Cast) and expr.operand.type.bits <= expr.type.bits:
        expr = expr.operand
    return int(expr.value).bit_length() if isinstance(expr, Const) else expr.type.bits


def _constant(expr: Expr) -> int | None:
    while isinstance(expr, Cast):
        expr = expr.operand
    return int(expr.value) if isinstance(expr, Const) and isinstance(expr.value, int) else None


def _widens(operand: Expr, cast: Expr) -> bool:
    """Whether every value of `operand` is kept by the conversion."""
    target, source = cast.type, operand.type
    if isinstance(target, Index):
        return isinstance(source, Int | UInt | Index)
    if not isinstance(target, Int | UInt) or isinstance(source, Float):
        return False
    if isinstance(target, UInt):
        return isinstance(source, UInt) and target.width >= source.width
    return target.width >= source.bits + (1 if isinstance(source, UInt) else 0)


def operands_of(expr: Expr, op: str) -> list[Expr]:
    """The operands of nested `min` or `max`, for the bounds of a loop."""
    inner = expr
    while isinstance(inner, Cast):
        inner = inner.operand
    if isinstance(inner, Binary) and inner.op == op:
        return operands_of(inner.lhs, op) + operands_of(inner.rhs, op)
    return [expr]
