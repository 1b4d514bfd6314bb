"""Typing rules: a table, operator x kinds of operands -> rule, gives the type of an operation.

`index` counts as `Int(32)`, `bool` as `UInt(1)`. A float operand makes the result a float, the wider of the two; a
fixed-point operand makes the others fixed point. The tables themselves are in `typing_tables`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from ...ir.types import AlloType, Bool, Fixed, Float, Index, Int, UFixed, UInt

Integer = Int | UInt
FixedPoint = Fixed | UFixed
Parts = tuple[int, int, bool]  # bits before the point (the sign among them), bits behind it, whether it is signed

SHIFTS = frozenset({"<<", ">>"})
BIT_OPERATORS = frozenset({"&", "|", "^"}) | SHIFTS
_INT, _UINT = cache(Int), cache(UInt)  # each type is asked for with nearly every operator
_NAMES: dict[str, Any] = {"int": _INT, "uint": _UINT, "max": max, "min": min}


@dataclass(frozen=True, slots=True)
class Rule:
    """A row of a table: a formula over the widths of the operands, as the documentation prints it, and as code."""

    text: str
    apply: Callable[..., Any]


def rule(text: str, *names: str) -> Rule:
    """The rule that `text`, an expression over `names`, says."""
    return Rule(text, eval(f"lambda {', '.join(names)}: {text}", dict(_NAMES)))


@dataclass(frozen=True, slots=True)
class FixedRule:
    """The bits of a fixed-point result, over `i`, `j` bits before the point and `f`, `g` behind it; see `s`.

    `s` is 1 if the right operand is signed, else 0. `aligned`: an unsigned operand beside a signed one counts with
    one more bit before the point. `sign`: the result is signed if one of the operands is (`either`), if the right one
    is (`right`), or always (`signed`). `whole`: the result is an integer.
    """

    before: Rule
    behind: Rule
    aligned: bool = False
    sign: str = "either"
    whole: bool = False

    def result(self, lhs: Parts, rhs: Parts) -> AlloType:
        (before1, behind1, signed1), (before2, behind2, signed2) = lhs, rhs
        either = signed1 or signed2
        signed = {"either": either, "right": signed2, "signed": True}[self.sign]
        grow = self.aligned and either
        i, j = before1 + int(grow and not signed1), before2 + int(grow and not signed2)
        u = int(not either)
        before = self.before.apply(i, j, behind1, behind2, int(signed2), u)
        if self.whole:
            return (Int if signed else UInt)(max(before, 1))
        return fixed_point(before, self.behind.apply(i, j, behind1, behind2, int(signed2), u), signed)


def fixed_rule(before: str, behind: str, **options: Any) -> FixedRule:
    names = ("i", "j", "f", "g", "s", "u")
    return FixedRule(rule(before, *names), rule(behind, *names), **options)


def fixed_point(before: int, behind: int, signed: bool) -> FixedPoint:
    """The fixed-point type of these bits, without rounding and saturation: results of operations are exact."""
    return (Fixed if signed else UFixed)(before + behind, behind)


@dataclass(frozen=True, slots=True)
class TypingRules:
    """A rule set.

    `promotion`: what an integer operand counts as, by its kind, over its width `a`. `integers`: operator -> kinds of
    the (promoted) operands -> the type of the result, over their widths `a` and `b`. `unary`: the same of `-x` and
    `abs(x)`. `fixed`: operator -> rule. `fixed_unary`: operator -> rule of the bits before the point. `literal`: what
    an integer literal of the least type `uint(a)` or `int(a)` counts as. `truncates`: `%` has the sign of the left
    operand, as in C. `wraps`: a result may be too narrow for its value, and wraps then.
    """

    name: str
    promotion: Mapping[type, Rule]
    literal: Mapping[type, Rule]
    integers: Mapping[str, Mapping[tuple[type, type], Rule]]
    unary: Mapping[str, Mapping[type, Rule]]
    fixed: Mapping[str, FixedRule]
    fixed_unary: Mapping[str, Mapping[type, Rule]]
    truncates: bool
    wraps: bool

    def result(self, op: str, lhs: AlloType, rhs: AlloType) -> AlloType | None:
        """The type of `lhs op rhs`, or None where the operator has no meaning for these types.

        Raises TypeError when the result would be wider than 1024 bits.
        """
        left, right = self.promoted(lhs), self.promoted(rhs)
        if left is not None and right is not None:
            found = self.integers[op][type(left), type(right)].apply(left.width, right.width)
            assert isinstance(found, Int | UInt)
            return found
        if isinstance(lhs, Float) or isinstance(rhs, Float):
            return None if op in BIT_OPERATORS else _float_result(lhs, rhs)
        parts = fixed_parts(lhs), fixed_parts(rhs)
        if parts[0] is None or parts[1] is None:
            return None
        if op in SHIFTS:
            return fixed_point(*parts[0]) if right is not None and isinstance(lhs, Fixed | UFixed) else None
        row = self.fixed.get(op)
        return None if row is None else row.result(parts[0], parts[1])

    def unary_result(self, op: str, operand: AlloType) -> AlloType | None:
        """The type of `-x` (op "neg") or `abs(x)` (op "abs"); None where there is none."""
        promoted = self.promoted(operand)
        if promoted is not None:
            found = self.unary[op][type(promoted)].apply(promoted.width)
            assert isinstance(found, Int | UInt)
            return found
        if isinstance(operand, Float):
            return operand
        parts = fixed_parts(operand)
        if parts is None:
            return None
        before = self.fixed_unary[op][type(operand)].apply(parts[0])
        return fixed_point(before, parts[1], parts[2] or op == "neg")

    def promoted(self, operand: AlloType) -> Integer | None:
        """The integer type that an operand counts as, if it does."""
        integer = as_integer(operand)
        if integer is None:
            return None
        found = self.promotion[type(integer)].apply(integer.width)
        assert isinstance(found, Int | UInt)
        return found

    def literal_operand(self, least: AlloType) -> AlloType:
        """What a literal counts as, given the least type that holds it."""
        if not isinstance(least, Int | UInt):
            return least
        found = self.literal[type(least)].apply(least.width)
        assert isinstance(found, Int | UInt)
        return found

    def compute_type(self, op: str, lhs: AlloType, rhs: AlloType, result: AlloType) -> AlloType:
        """The type both operands are converted to before the operation."""
        if op in ("/", "//", "%", "compare") and isinstance(result, Int | UInt):
            common = self.result("compare", lhs, rhs)
            assert common is not None
            if op == "compare" or common.bits >= result.bits:
                return common
        return result


def as_integer(scalar: AlloType) -> Integer | None:
    """The integer type that `scalar` is, or stands for."""
    match scalar:
        case Int() | UInt():
            return scalar
        case Index():
            return _INT(32)
        case Bool():
            return _UINT(1)
        case _:
            return None


def fixed_parts(scalar: AlloType) -> Parts | None:
    """The parts of a fixed-point or integer type."""
    match scalar:
        case Fixed() | UFixed():
            return scalar.width - scalar.fracs, scalar.fracs, isinstance(scalar, Fixed)
    integer = as_integer(scalar)
    return None if integer is None else (integer.width, 0, isinstance(integer, Int))


def _float_result(lhs: AlloType, rhs: AlloType) -> AlloType | None:
    """The wider float; float16 with bfloat16 is float32, which holds both."""
    if lhs is rhs and isinstance(lhs, Float):
        return lhs
    if any(not isinstance(t, Float) and fixed_parts(t) is None for t in (lhs, rhs)):
        return None
    floats = [t for t in (lhs, rhs) if isinstance(t, Float)]
    if len(floats) == 2 and floats[0].brain != floats[1].brain and {f.width for f in floats} == {16}:
        return Float(32)
    return max(floats, key=lambda f: f.width)


def literal_type(value: int | float | bool) -> AlloType:
    """The least type that holds a literal; a float literal is `float32` until its context says otherwise."""
    if isinstance(value, bool):
        return Bool()
    if isinstance(value, float):
        return Float(32)
    if value >= 0:
        return _UINT(max(value.bit_length(), 1))
    return _INT((value + 1).bit_length() + 1)


def shifted_type(operand: FixedPoint, amount: int) -> FixedPoint:
    """The type of a fixed-point number times 2**amount: the point moves, no digit is lost."""
    before, behind = operand.width - operand.fracs + amount, operand.fracs - amount
    return fixed_point(max(before, 0), max(behind, 0), isinstance(operand, Fixed))
