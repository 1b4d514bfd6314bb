"""Decides the type of every operation: one table, operator x kinds of operands -> type of the result.

Integers follow the rule of HLS arbitrary-precision types: the result is as wide as it needs to be to hold every value,
so nothing is lost before an assignment converts (Allo paper, section 7, *Type System*). `index` counts as `Int(32)`,
`bool` as `UInt(1)`. A float operand makes the result a float, the wider of the two.
"""

from __future__ import annotations

from collections.abc import Callable

from ..ir.types import AlloType, Bool, Fixed, Float, Index, Int, UFixed, UInt, float32

Integer = Int | UInt
Rule = Callable[[int, int], Integer]

_INTEGER_RULES: dict[str, dict[tuple[type, type], Rule]] = {
    "+": {
        (Int, Int): lambda a, b: Int(max(a, b) + 1),
        (Int, UInt): lambda a, b: Int(max(a, b + 1) + 1),
        (UInt, Int): lambda a, b: Int(max(a + 1, b) + 1),
        (UInt, UInt): lambda a, b: UInt(max(a, b) + 1),
    },
    "-": {
        (Int, Int): lambda a, b: Int(max(a, b) + 1),
        (Int, UInt): lambda a, b: Int(max(a, b + 1) + 1),
        (UInt, Int): lambda a, b: Int(max(a + 1, b) + 1),
        (UInt, UInt): lambda a, b: Int(max(a, b) + 1),
    },
    "*": {
        (Int, Int): lambda a, b: Int(a + b),
        (Int, UInt): lambda a, b: Int(a + b),
        (UInt, Int): lambda a, b: Int(a + b),
        (UInt, UInt): lambda a, b: UInt(a + b),
    },
    "/": {
        (Int, Int): lambda a, b: Int(a + 1),
        (Int, UInt): lambda a, b: Int(a),
        (UInt, Int): lambda a, b: Int(a + 1),
        (UInt, UInt): lambda a, b: UInt(a),
    },
    "//": {
        (Int, Int): lambda a, b: Int(a + 1),
        (Int, UInt): lambda a, b: Int(a),
        (UInt, Int): lambda a, b: Int(a + 1),
        (UInt, UInt): lambda a, b: UInt(a),
    },
    "%": {
        (Int, Int): lambda a, b: Int(b),
        (Int, UInt): lambda a, b: UInt(b),
        (UInt, Int): lambda a, b: Int(b),
        (UInt, UInt): lambda a, b: UInt(min(a, b)),
    },
    "<<": {
        (Int, Int): lambda a, b: Int(a),
        (Int, UInt): lambda a, b: Int(a),
        (UInt, Int): lambda a, b: UInt(a),
        (UInt, UInt): lambda a, b: UInt(a),
    },
}
_INTEGER_RULES[">>"] = _INTEGER_RULES["<<"]
_COMMON: dict[tuple[type, type], Rule] = {
    (Int, Int): lambda a, b: Int(max(a, b)),
    (Int, UInt): lambda a, b: Int(max(a, b + 1)),
    (UInt, Int): lambda a, b: Int(max(a + 1, b)),
    (UInt, UInt): lambda a, b: UInt(max(a, b)),
}
for _op in ("&", "|", "^", "min", "max", "compare"):
    _INTEGER_RULES[_op] = _COMMON
BIT_OPERATORS = frozenset({"&", "|", "^", "<<", ">>"})


def as_integer(scalar: AlloType) -> Integer | None:
    """The integer type that `scalar` counts as in arithmetic, if it does."""
    match scalar:
        case Int() | UInt():
            return scalar
        case Index():
            return Int(32)
        case Bool():
            return UInt(1)
        case _:
            return None


def fixed_parts(scalar: AlloType) -> tuple[int, int, bool] | None:
    """(integer bits with the sign, fraction bits, signed) of a fixed-point or integer type."""
    match scalar:
        case Fixed():
            return scalar.width - scalar.fracs, scalar.fracs, True
        case UFixed():
            return scalar.width - scalar.fracs, scalar.fracs, False
    integer = as_integer(scalar)
    return None if integer is None else (integer.width, 0, isinstance(integer, Int))


def _fixed(whole: int, fracs: int, signed: bool) -> AlloType:
    return Fixed(whole + fracs, fracs) if signed else UFixed(whole + fracs, fracs)


def _fixed_result(op: str, lhs: tuple[int, int, bool], rhs: tuple[int, int, bool]) -> AlloType | None:
    """The rules of fixed point, with integers as numbers without fraction bits."""
    (whole1, fracs1, signed1), (whole2, fracs2, signed2) = lhs, rhs
    signed = signed1 or signed2
    if op == "*":
        return _fixed(whole1 + whole2, fracs1 + fracs2, signed)
    if op == "/":  # no quotient overflows; it has the fraction bits of the dividend
        return _fixed(whole1 + fracs2 + int(signed2), fracs1, signed)
    whole = max(whole1 + int(signed and not signed1), whole2 + int(signed and not signed2))
    fracs = max(fracs1, fracs2)
    if op == "+":
        return _fixed(whole + 1, fracs, signed)
    if op == "-":
        return _fixed(whole + 1, fracs, True)
    if op in ("min", "max", "compare"):
        return _fixed(whole, fracs, signed)
    return None


def literal_type(value: int | float | bool) -> AlloType:
    """The least type that holds a literal; a float literal is `float32` until its context says otherwise."""
    if isinstance(value, bool):
        return Bool()
    if isinstance(value, float):
        return float32
    if value >= 0:
        return UInt(max(value.bit_length(), 1))
    return Int((value + 1).bit_length() + 1)


def result_type(op: str, lhs: AlloType, rhs: AlloType) -> AlloType | None:
    """The type of `lhs op rhs`, or None where the operator has no meaning for these types.

    Raises TypeError when the result would be wider than 1024 bits.
    """
    left, right = as_integer(lhs), as_integer(rhs)
    if left is not None and right is not None:
        return _INTEGER_RULES[op][type(left), type(right)](left.width, right.width)
    parts = fixed_parts(lhs), fixed_parts(rhs)
    if parts[0] is not None and parts[1] is not None:
        return _fixed_result(op, parts[0], parts[1])
    if op in BIT_OPERATORS:
        return None
    floats = [t for t in (lhs, rhs) if isinstance(t, Float)]
    if not floats or any(not isinstance(t, Float) and fixed_parts(t) is None for t in (lhs, rhs)):
        return None
    if len(floats) == 2 and floats[0].brain != floats[1].brain and {f.width for f in floats} == {16}:
        return float32
    return max(floats, key=lambda f: f.width)


def compute_type(op: str, lhs: AlloType, rhs: AlloType, result: AlloType) -> AlloType:
    """The type both operands are converted to before the operation."""
    if op in ("/", "//", "%", "compare") and isinstance(result, Int | UInt):
        common = result_type("compare", lhs, rhs)
        assert common is not None
        if op == "compare" or common.bits >= result.bits:
            return common
    return result
