"""Conversions of values between types, and arithmetic on compile-time constants."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from fractions import Fraction

import numpy as np

from ...ir.arrays import numpy_dtype
from ...ir.quantize import quantize
from ...ir.types import MAX_BITS, AlloType, Bool, Fixed, Float, Index, Int, Struct, UFixed, UInt, wrap
from ..read.source import Position
from .nodes import Cast, Const, Expr
from .rules import TypingRules, literal_type
from .tables import DEFAULT

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
    return Const(literal_type(value), at, value, literal=True)


def fixed_constant(value: Fraction, at: Position) -> Const | None:
    """A literal of the least fixed-point type that holds it; None if no such type does."""
    fracs = value.denominator.bit_length() - 1
    mantissa = value.numerator
    width = max((mantissa if mantissa >= 0 else -mantissa - 1).bit_length() + int(mantissa < 0), fracs, 1)
    if value.denominator != 1 << fracs or width > MAX_BITS:
        return None
    return Const((Fixed if mantissa < 0 else UFixed)(width, fracs), at, value)


def convert(expr: Expr, target: AlloType) -> Expr:
    """`expr` as a value of type `target`, as an assignment converts it."""
    if isinstance(target, Struct) or isinstance(expr.type, Struct):
        if expr.type == target:
            return expr
        raise no_struct(expr, target)
    if isinstance(expr, Const):
        value = expr.value
        match target:
            case Bool():
                return Const(target, expr.at, bool(value))
            case Float():
                return Const(target, expr.at, nearest_float(value, target))
            case Int() | UInt() | Index() if not math.isfinite(value):
                hint = "declare a variable of a float type"
                raise NotExpressible(f"the constant {value} is not an integer of type {target!r}", expr.at, hint)
            case Int() | UInt():
                return Const(target, expr.at, wrap(_whole(value), target))
            case Index():
                return Const(target, expr.at, _whole(value))
            case Fixed() | UFixed():
                return Const(target, expr.at, quantize(value, target))
    if expr.type == target:
        return expr
    return Cast(target, expr.at, expr)


def no_struct(expr: Expr, target: AlloType) -> NotExpressible:
    """The error of a struct that should become something else, or the other way around."""
    if isinstance(expr.type, Struct) and isinstance(target, Struct):
        return NotExpressible(f"{expr.type!r} does not become {target!r}", expr.at, "assign the fields one by one")
    if isinstance(expr.type, Struct):
        fields = ", ".join(name for name, _ in expr.type.fields)
        return NotExpressible(f"{expr.type!r} does not become {target!r}", expr.at, f"take one of its fields: {fields}")
    assert isinstance(target, Struct)
    struct = "{" + ", ".join(f"'{name}': ..." for name, _ in target.fields) + "}"
    return NotExpressible(f"{expr.type!r} does not become {target!r}", expr.at, f"give all fields: {struct}")


def _whole(value: int | float | Fraction) -> int:
    """The integer that a number converts to: floats toward zero, fixed point toward minus infinity."""
    return math.floor(value) if isinstance(value, Fraction) else int(value)


def nearest_float(value: int | float | Fraction, target: Float) -> float:
    """The nearest value of a float type; an infinity above its range."""
    if -256 <= value <= 256 and value == int(value):  # all float types have these
        return float(value)
    dtype = numpy_dtype(target)
    assert dtype is not None
    try:
        with np.errstate(over="ignore"):
            return float(np.float64(float(value)).astype(dtype))
    except OverflowError:  # an integer or a fraction above the range of float64
        return math.inf if value > 0 else -math.inf


def fold(op: str, lhs: Const, rhs: Const, at: Position, rules: TypingRules = DEFAULT) -> Const | None:
    """The constant `lhs op rhs`; None where Python itself has no value for it, or the types matter for the value."""
    if isinstance(lhs.value, Fraction) or isinstance(rhs.value, Fraction):  # fixed point has rules of its own
        return None
    if any((rules.wraps or isinstance(operand.type, Float)) and not operand.literal for operand in (lhs, rhs)):
        return None
    if op == "%" and rules.truncates and lhs.value * rhs.value < 0:
        return constant(-(-lhs.value % rhs.value), at)
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
    if isinstance(lhs, Const) and isinstance(lhs.type, Float) and isinstance(rhs.type, Float) and lhs.literal:
        return convert(lhs, rhs.type), rhs
    if isinstance(rhs, Const) and isinstance(rhs.type, Float) and isinstance(lhs.type, Float) and rhs.literal:
        return lhs, convert(rhs, lhs.type)
    return lhs, rhs
