"""What operations of kernels mean, in Python integers, fractions and NumPy floats; machine code must agree."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import ml_dtypes
import numpy as np

from allo.frontend.typing.rules import TypingRules, as_integer
from allo.ir.quantize import quantize
from allo.ir.types import AlloType, Bool, Fixed, Float, Int, UFixed, UInt, wrap

Value = Any  # bool, int, Fraction, or a float of NumPy
FixedPoint = Fixed | UFixed
EXACT: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "&": operator.and_,
    "|": operator.or_,
    "^": operator.xor,
}
COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


# -- conversion -------------------------------------------------------------------------------------------


def float_class(scalar: Float) -> Any:
    return (
        ml_dtypes.bfloat16 if scalar.brain else {16: np.float16, 32: np.float32, 64: np.float64}[scalar.width]
    )


def nearest(value: Fraction, scalar: Float) -> Any:
    """The float nearest to an exact value, of two the even one."""
    made = float_class(scalar)
    digits, least = {16: (11, -24), 32: (24, -149), 64: (53, -1074)}[scalar.width]
    if scalar.brain:
        digits, least = 8, -133
    if value == 0:
        return made(0.0)
    magnitude = abs(value)
    exponent = magnitude.numerator.bit_length() - magnitude.denominator.bit_length()
    if magnitude < Fraction(2) ** exponent:
        exponent -= 1
    unit = Fraction(2) ** max(exponent - digits + 1, least)
    rounded = round(magnitude / unit) * unit
    try:
        result = float(rounded)
    except OverflowError:
        result = math.inf
    with np.errstate(over="ignore"):
        return made(-result if value < 0 else result)


def convert(value: Value, source: AlloType, target: AlloType) -> Value:
    """`value` of type `source` as an assignment to `target` converts it."""
    if source == target:
        return value
    is_float = isinstance(source, Float)
    match target:
        case Bool():
            return bool(value != 0)
        case Float():
            if is_float:
                finite = math.isfinite(float(value)) and value != 0
                return (
                    nearest(Fraction(float(value)), target) if finite else float_class(target)(float(value))
                )
            exact = Fraction(value)
            limit = 53 if isinstance(source, Fixed | UFixed) else 24 if target.brain else 64
            if source.bits > limit and target.width < 64:  # through float64
                first = float(nearest(exact, Float(64)))
                return (
                    nearest(Fraction(first), target) if math.isfinite(first) else float_class(target)(first)
                )
            return nearest(exact, target)
        case Fixed() | UFixed():
            return quantize(float(value) if is_float else Fraction(value), target)
    whole = as_integer(target)
    assert whole is not None
    if not is_float:
        return wrap(math.floor(value), whole)
    if math.isnan(float(value)):
        return 0
    least = -(1 << whole.bits - 1) if isinstance(whole, Int) else 0
    most = (1 << whole.bits) - 1 + least
    return int(min(max(float(value), least), most))


def is_value_of(value: Value, scalar: AlloType) -> bool:
    """Whether the type holds the value."""
    whole = as_integer(scalar)
    if whole is not None:
        return wrap(int(value), whole) == value
    if isinstance(scalar, Fixed | UFixed):
        return quantize(value, type(scalar)(scalar.width, scalar.fracs)) == value
    return bool(value.dtype == np.dtype(float_class(scalar)))  # type: ignore[arg-type]


# -- operations -------------------------------------------------------------------------------------------


def binary(rules: TypingRules, op: str, lhs: tuple[AlloType, Value], rhs: tuple[AlloType, Value]) -> Value:
    """The value of `lhs op rhs` by a rule set; not for shifts by constants, which have types of their own."""
    (left, a), (right, b) = lhs, rhs
    result = rules.result(op, left, right)
    assert result is not None
    if isinstance(result, Float):
        return float_operation(rules, op, result, convert(a, left, result), convert(b, right, result))
    if op in ("<<", ">>"):
        return shift(op, result, convert(a, left, result), b)
    if isinstance(left, Fixed | UFixed) or isinstance(right, Fixed | UFixed):
        if op in ("/", "//", "%") and b == 0:  # the least positive number takes its place
            fracs = right.fracs if isinstance(right, Fixed | UFixed) else 0
            return Fraction(0) if op == "%" else _fixed_operation(op, result, Fraction(a), Fraction(1, 2**fracs))
        return _fixed_operation(op, result, Fraction(a), Fraction(b))
    if rules.wraps:
        a, b = convert(a, left, result), convert(b, right, result)
    if op in ("/", "//", "%") and b == 0:
        return 0 if op == "%" else int(a)
    whole = as_integer(result)
    assert whole is not None
    return (
        wrap(_integer_operation(rules, op, int(a), int(b)), whole)
        if rules.wraps
        else _integer_operation(rules, op, a, b)
    )


def _integer_operation(rules: TypingRules, op: str, a: int, b: int) -> int:
    toward_zero = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1) if op in ("/", "%") else 0
    match op:
        case "/":
            return toward_zero
        case "//":
            return a // b
        case "%":
            return a - toward_zero * b if rules.truncates else a % b
        case "min":
            return min(a, b)
        case "max":
            return max(a, b)
    found = EXACT[op](int(a), int(b))
    assert isinstance(found, int)
    return found


def _fixed_operation(op: str, result: AlloType, a: Fraction, b: Fraction) -> Value:
    match op:
        case "/":
            assert isinstance(result, Fixed | UFixed)
            return Fraction(math.floor(a / b * 2**result.fracs), 2**result.fracs)
        case "//":
            return math.floor(a / b)
        case "%":
            return a - math.floor(a / b) * b
        case "min" | "max":
            return (min if op == "min" else max)(a, b)
    return EXACT[op](a, b)


def shift(op: str, result: AlloType, value: Value, amount: int) -> Value:
    """A shift of the bits in their type; what is not below the width shifts everything out."""
    fracs = result.fracs if isinstance(result, Fixed | UFixed) else 0
    bits = int(value * 2**fracs)
    if not 0 <= amount < result.bits:
        shifted = 0 if op == "<<" or bits >= 0 else -1
    else:
        shifted = bits << amount if op == "<<" else bits >> amount
    signed = isinstance(result, Int | Fixed)
    wrapped = wrap(shifted, (Int if signed else UInt)(result.bits))
    return Fraction(wrapped, 2**fracs) if isinstance(result, Fixed | UFixed) else wrapped


def float_operation(rules: TypingRules, op: str, result: Float, a: Any, b: Any) -> Any:
    """One operation in a float type; those of 16 bits are exact in float32 until the result is rounded."""
    made = float_class(result)
    wide = np.float64 if result.width == 64 else np.float32
    x, y = wide(a), wide(b)
    with np.errstate(all="ignore"):
        match op:
            case "min":
                return b if y < x else a
            case "max":
                return b if y > x else a
            case "/":
                return made(x / y)
            case "//":
                return made(np.floor(wide(made(x / y))))
            case "%":
                rest = np.fmod(x, y)
                if rest != 0 and (rest < 0) != (y < 0) and not rules.truncates:
                    rest = rest + y
                return made(rest)
        return made(EXACT[op](x, y))


def compare(rules: TypingRules, op: str, lhs: tuple[AlloType, Value], rhs: tuple[AlloType, Value]) -> bool:
    (left, a), (right, b) = lhs, rhs
    common = rules.result("compare", left, right)
    assert common is not None
    return bool(COMPARE[op](convert(a, left, common), convert(b, right, common)))


def negated(rules: TypingRules, operand: AlloType, value: Value) -> Value:
    result = rules.unary_result("neg", operand)
    assert result is not None
    if isinstance(operand, Float):
        return -value
    exact = -convert(value, operand, result)
    return wrap(int(exact), result) if isinstance(result, Int | UInt) else exact


def absolute(rules: TypingRules, operand: AlloType, value: Value) -> Value:
    result = rules.unary_result("abs", operand)
    assert result is not None
    if isinstance(operand, Float):
        return float_class(operand)(abs(float(value)))
    exact = abs(convert(value, operand, result))
    return wrap(int(exact), result) if isinstance(result, Int | UInt) else exact
