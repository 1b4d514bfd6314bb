"""Decides how values change type: implicit conversions, and arithmetic on compile-time constants."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from fractions import Fraction

from ..ir.types import MAX_BITS, AlloType, Bool, Fixed, Float, Index, Int, UFixed, UInt, wrap
from ..ir.types import bool as bool_type
from .nodes import Binary, Cast, Compare, Const, Expr
from .source import Position
from .typing_rules import compute_type, fixed_parts, literal_type, result_type

Number = int | float | bool


class NotExpressible(Exception):
    """A value that no type of the kernel language holds, or that the wanted type does not."""

    def __init__(self, message: str, at: Position, hint: str | None = None) -> None:
        super().__init__(message)
        self.at = at
        self.hint = hint


def _divide(a: Number, b: Number) -> Number:
    """`/` of the kernel language: truncating between integers, as in C."""
    if isinstance(a, int) and isinstance(b, int):
        quotient = abs(a) // abs(b)
        return quotient if (a < 0) == (b < 0) else -quotient
    return a / b


_FOLD: dict[str, Callable[[Number, Number], Number]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": _divide,
    "//": operator.floordiv,
    "%": operator.mod,
    "<<": operator.lshift,
    ">>": operator.rshift,
    "&": operator.and_,
    "|": operator.or_,
    "^": operator.xor,
    "min": min,
    "max": max,
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def constant(value: Number, at: Position) -> Const:
    """A literal, of the least type that holds it; NotExpressible above 1024 bits."""
    if isinstance(value, int) and value.bit_length() >= MAX_BITS:
        bits = value.bit_length()
        raise NotExpressible(f"the constant has {bits} bits, and the widest integer has {MAX_BITS}", at)
    return Const(literal_type(value), at, value)


def convert(expr: Expr, target: AlloType) -> Expr:
    """`expr` as a value of type `target`, as an assignment converts it."""
    if isinstance(expr, Const):
        value = expr.value
        match target:
            case Bool():
                return Const(target, expr.at, bool(value))
            case Float():
                return Const(target, expr.at, float(value))
            case Int() | UInt() | Index() if not math.isfinite(value):
                hint = "declare a variable of a float type"
                raise NotExpressible(f"the constant {value} is not an integer of type {target!r}", expr.at, hint)
            case Int() | UInt():
                return Const(target, expr.at, wrap(int(value), target))
            case Index():
                return Const(target, expr.at, int(value))
            case Fixed() | UFixed():
                mantissa = math.floor(Fraction(value) * 2**target.fracs)
                wrapped = wrap(mantissa, (Int if isinstance(target, Fixed) else UInt)(target.width))
                return Const(target, expr.at, wrapped / Fraction(2**target.fracs))
    if expr.type == target:
        return expr
    return Cast(target, expr.at, expr)


def fold(op: str, lhs: Const, rhs: Const, at: Position) -> Const | None:
    """The constant `lhs op rhs`; None where Python itself has no value for it."""
    if isinstance(lhs.value, Fraction) or isinstance(rhs.value, Fraction):  # fixed point has rules of its own
        return None
    if op == "<<" and lhs.value and rhs.value > MAX_BITS:
        raise NotExpressible(f"a constant shifted left by {rhs.value} is wider than {MAX_BITS} bits", at)
    try:
        return constant(_FOLD[op](lhs.value, rhs.value), at)
    except (ArithmeticError, TypeError, ValueError):
        return None


def power(base: Const, exponent: Const, at: Position) -> Const:
    """The constant `base ** exponent`."""
    b, e = base.value, exponent.value
    assert not isinstance(b, Fraction) and not isinstance(e, Fraction)  # only declarations make fixed-point constants
    if isinstance(b, int) and isinstance(e, int) and abs(b) > 1 and e * b.bit_length() > 2 * MAX_BITS:
        raise NotExpressible(f"`{b} ** {e}` is wider than {MAX_BITS} bits", at)
    try:
        value = b**e
    except ArithmeticError as error:
        raise NotExpressible(f"`{b} ** {e}` has no value: {error.args[-1]}", at) from None
    if isinstance(value, complex):
        raise NotExpressible(f"`{b} ** {e}` is not a real number", at)
    return constant(value, at)


def adapt_literals(lhs: Expr, rhs: Expr) -> tuple[Expr, Expr]:
    """A float literal takes the float type of the other operand."""
    if isinstance(lhs, Const) and isinstance(lhs.type, Float) and isinstance(rhs.type, Float):
        return Const(rhs.type, lhs.at, lhs.value), rhs
    if isinstance(rhs, Const) and isinstance(rhs.type, Float) and isinstance(lhs.type, Float):
        return lhs, Const(lhs.type, rhs.at, rhs.value)
    return lhs, rhs


def binary(op: str, lhs: Expr, rhs: Expr, at: Position) -> Expr | None:
    """`lhs op rhs` by the typing rules, or None where they have no row. NotExpressible above 1024 bits."""
    if isinstance(lhs, Const) and isinstance(rhs, Const) and (folded := fold(op, lhs, rhs, at)) is not None:
        return folded
    lhs, rhs = adapt_literals(lhs, rhs)
    try:
        result = result_type(op, lhs.type, rhs.type)
        if op == "<<" and isinstance(rhs, Const) and isinstance(result, Int | UInt):
            result = type(result)(result.width + int(rhs.value))
    except TypeError:
        raise _too_wide(op, lhs, rhs, at) from None
    if result is None:
        return None
    if op in ("<<", ">>"):
        return Binary(result, at, op, convert(lhs, result), rhs)
    if isinstance(result, Fixed | UFixed) and op in ("*", "/"):
        return Binary(result, at, op, as_fixed(lhs), as_fixed(rhs))
    computed = compute_type(op, lhs.type, rhs.type, result)
    value = Binary(computed, at, op, convert(lhs, computed), convert(rhs, computed))
    return value if computed == result else Cast(result, at, value, exact=True)


def as_fixed(expr: Expr) -> Expr:
    """An integer as the fixed-point number without fraction bits; products and quotients take operands as they are."""
    if isinstance(expr.type, Fixed | UFixed):
        return expr
    parts = fixed_parts(expr.type)
    assert parts is not None
    return convert(expr, (Fixed if parts[2] else UFixed)(parts[0], 0))


def _too_wide(op: str, lhs: Expr, rhs: Expr, at: Position) -> NotExpressible:
    return NotExpressible(
        f"`{op}` of {lhs.type!r} and {rhs.type!r} needs more than {MAX_BITS} bits",
        at,
        "convert an operand to a narrower type, such as int64(x)",
    )


def compare(op: str, lhs: Expr, rhs: Expr, at: Position) -> Expr | None:
    """`lhs op rhs` as a truth value, or None where the types cannot be compared."""
    if isinstance(lhs, Const) and isinstance(rhs, Const) and (folded := fold(op, lhs, rhs, at)) is not None:
        return folded
    lhs, rhs = adapt_literals(lhs, rhs)
    try:
        common = result_type("compare", lhs.type, rhs.type)
    except TypeError:
        raise _too_wide(op, lhs, rhs, at) from None
    if common is None:
        return None
    return Compare(bool_type, at, op, convert(lhs, common), convert(rhs, common))


def truth(expr: Expr) -> Expr:
    """`expr` as a condition: a number is true if it is not zero."""
    if isinstance(expr, Const):
        return Const(bool_type, expr.at, bool(expr.value))
    if isinstance(expr.type, Bool):
        return expr
    result = compare("!=", expr, constant(0, expr.at), expr.at)
    assert result is not None
    return result
