"""Typed expressions of operators: by the rows of a rule set, with operands converted as they say."""

from __future__ import annotations

from fractions import Fraction

from ...ir.types import MAX_BITS, AlloType, Bool, Fixed, Float, Int, Struct, UFixed, UInt, int32, wrap
from ...ir.types import bool as bool_type
from ..read.source import Position
from .convert import NotExpressible, adapt_literals, constant, convert, fold, no_struct
from .nodes import Binary, BitOp, Cast, Compare, Const, Expr, MathCall
from .rules import SHIFTS, TypingRules, fixed_parts, shifted_type
from .tables import DEFAULT
from .writes import shared

_NARROWER = "convert an operand to a narrower type, such as int64(x)"


def _counted(expr: Expr, rules: TypingRules) -> AlloType:
    """The type that an operand counts as."""
    literal = isinstance(expr, Const) and expr.literal
    return rules.literal_operand(expr.type) if literal else expr.type


def _pair(lhs: Expr, rhs: Expr, rules: TypingRules) -> tuple[AlloType, AlloType]:
    """The types that two operands count as; a literal beside fixed point counts with the bits that it needs."""
    if isinstance(lhs.type, Fixed | UFixed) or isinstance(rhs.type, Fixed | UFixed):
        return lhs.type, rhs.type
    return _counted(lhs, rules), _counted(rhs, rules)


def binary(op: str, lhs: Expr, rhs: Expr, at: Position, rules: TypingRules = DEFAULT) -> Expr | None:
    """`lhs op rhs` by the typing rules, or None where they have no row. NotExpressible above 1024 bits."""
    if isinstance(lhs, Const) and isinstance(rhs, Const) and (folded := fold(op, lhs, rhs, at, rules)) is not None:
        return folded
    lhs, rhs = adapt_literals(lhs, rhs)
    left, right = _pair(lhs, rhs, rules)
    try:
        result = rules.result(op, left, right)
        if result is None:
            return None
        if op in SHIFTS:
            return _shift(op, lhs, rhs, result, at, rules)
        computed = rules.compute_type(op, left, right, result)
        is_fixed = any(isinstance(t, Fixed | UFixed) for t in (left, right)) and not isinstance(result, Float)
        if is_fixed and op in ("*", "/", "//", "%"):
            return _fixed_product(op, lhs, rhs, result, at, rules)
        if op in ("/", "//") and rules.wraps and isinstance(result, Int) and not isinstance(rhs, Const):
            computed = Int(result.width + 1)  # the least number by -1
    except TypeError:
        raise _too_wide(op, lhs, rhs, at) from None
    name = "rem" if op == "%" and rules.truncates else op
    value = Binary(computed, at, name, convert(lhs, computed), convert(rhs, computed))
    return value if computed == result else Cast(result, at, value, exact=not rules.wraps)


def _shift(op: str, lhs: Expr, rhs: Expr, result: AlloType, at: Position, rules: TypingRules) -> Expr:
    """A shift to the left by a constant is as wide as it needs to be, unless the rules say that it wraps.

    A literal that is shifted left by a run-time amount counts as int32, unless it is wider."""
    if isinstance(result, Fixed | UFixed):
        if isinstance(rhs, Const) and not rules.wraps:
            return _move_point(lhs, int(rhs.value) if op == "<<" else -int(rhs.value), at)
        word = (Int if isinstance(result, Fixed) else UInt)(result.width)
        return _bits_as(Binary(word, at, op, _bits_as(lhs, word, at), rhs), result, at)
    if op == "<<" and isinstance(rhs, Const) and isinstance(result, Int | UInt) and not rules.wraps:
        result = type(result)(result.width + int(rhs.value))
    elif op == "<<" and isinstance(lhs, Const) and lhs.literal and isinstance(result, Int | UInt) and not rules.wraps:
        result = Int(max(int32.width, result.width + isinstance(result, UInt)))  # `1 << n`: as in `x = 1`
    return Binary(result, at, op, convert(lhs, result), rhs)


def _bits_as(expr: Expr, target: AlloType, at: Position) -> Expr:
    """The bits of `expr` as a value of a type of the same width."""
    return BitOp(target, at, "bitcast", expr)


def _move_point(expr: Expr, amount: int, at: Position) -> Expr:
    """A fixed-point number times 2**amount: its digits, with zeros added where the point would leave them."""
    operand = expr.type
    assert isinstance(operand, Fixed | UFixed)
    result = shifted_type(operand, amount)
    padded = type(result)(result.width, max(operand.fracs, amount))
    return _bits_as(convert(expr, padded), result, at)


def _fixed_product(
    op: str, lhs: Expr, rhs: Expr, result: AlloType, at: Position, rules: TypingRules
) -> Expr:
    """`*` and `/` take their operands as they are; `//` is the quotient without its digits, `%` works on digits."""
    if op == "%":
        common = rules.result("compare", lhs.type, rhs.type)
        assert isinstance(common, Fixed | UFixed)
        word = (Int if isinstance(common, Fixed) else UInt)(common.width)
        left, right = (_bits_as(convert(operand, common), word, at) for operand in (lhs, rhs))
        remainder = _bits_as(Binary(word, at, "%", left, right), common, at)
        return remainder if common == result else Cast(result, at, remainder, exact=True)
    if op == "*":
        return Binary(result, at, op, as_fixed(lhs), as_fixed(rhs))
    quotient = rules.result("/", lhs.type, rhs.type)
    assert quotient is not None
    divided = Binary(quotient, at, "/", as_fixed(lhs), _divisor(as_fixed(rhs)))
    return divided if op == "/" else Cast(result, at, divided)


def _divisor(expr: Expr) -> Expr:
    """A divisor of a type with a positive number, which stands for 0."""
    if isinstance(expr.type, Fixed) and expr.type.width == 1:
        return convert(expr, Fixed(2, expr.type.fracs))
    return expr


def negated(operand: Expr, at: Position, rules: TypingRules = DEFAULT) -> Expr | None:
    """`-operand`; None for what is no number. NotExpressible above 1024 bits."""
    if isinstance(operand, Const) and operand.literal and not isinstance(operand.value, Fraction):
        return constant(-operand.value, at)
    result = _unary_result("neg", operand, rules)
    if result is None:
        return None
    zero = Const(result, at, -0.0 if isinstance(result, Float) else 0)
    return Binary(result, at, "-", zero, convert(operand, result))


def absolute(operand: Expr, at: Position, rules: TypingRules = DEFAULT) -> Expr | None:
    """`abs(operand)`; None for what is no number. NotExpressible above 1024 bits."""
    if isinstance(operand, Const) and operand.literal and not isinstance(operand.value, Fraction):
        return constant(abs(operand.value), at)
    result = _unary_result("abs", operand, rules)
    if result is None:
        return None
    value = convert(operand, result)
    if isinstance(result, UInt | UFixed):
        return value
    if isinstance(result, Fixed):
        once = shared(value)
        return Binary(result, at, "max", once, Binary(result, at, "-", Const(result, at, 0), once))
    return MathCall(result, at, "math.absf" if isinstance(result, Float) else "math.absi", (value,))


def _unary_result(op: str, operand: Expr, rules: TypingRules) -> AlloType | None:
    try:
        return rules.unary_result(op, _counted(operand, rules))
    except TypeError:
        message = f"`{'-' if op == 'neg' else 'abs'}` of {operand.type!r} needs more than {MAX_BITS} bits"
        raise NotExpressible(message, operand.at, _NARROWER) from None


def common_type(first: Expr, second: Expr, rules: TypingRules) -> AlloType | None:
    """The type of a value that is one of two, such as that of a ternary; None if there is none."""
    left, right = _pair(first, second, rules)
    try:
        common = rules.result("compare", left, right)
    except TypeError:
        raise _too_wide("if-else", first, second, first.at) from None
    small = isinstance(first, Const) and isinstance(second, Const) and isinstance(common, Int | UInt)
    return Int(32) if small and common is not None and fits_int32(first, second) else common


def fits_int32(*values: Expr) -> bool:
    """Whether all constants are values of `int32`, the type of a variable that starts with a literal."""
    return all(isinstance(v, Const) and wrap(int(v.value), Int(32)) == v.value for v in values)


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
        _NARROWER,
    )


def compare(op: str, lhs: Expr, rhs: Expr, at: Position, rules: TypingRules = DEFAULT) -> Expr | None:
    """`lhs op rhs` as a truth value, or None where the types cannot be compared."""
    if isinstance(lhs, Const) and isinstance(rhs, Const) and (folded := fold(op, lhs, rhs, at, rules)) is not None:
        return folded
    lhs, rhs = adapt_literals(lhs, rhs)
    try:
        common = rules.result("compare", *_pair(lhs, rhs, rules))
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
    if isinstance(expr.type, Struct):
        raise no_struct(expr, bool_type)
    result = compare("!=", expr, constant(0, expr.at), expr.at)
    assert result is not None
    return result
