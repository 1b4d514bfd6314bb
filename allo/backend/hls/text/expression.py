"""Expressions of C++ and what is known of one: how tightly it binds, its width, its low bits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from .cxx_types import is_native, signed_type, unsigned_type

PRECEDENCE = {
    "?": 0, "||": 1, "&&": 2, "|": 3, "^": 4, "&": 5, "==": 6, "!=": 6, "<": 7, "<=": 7, ">": 7, ">=": 7,
    "<<": 8, ">>": 8, "+": 9, "-": 9, "*": 10, "/": 10, "%": 10,
}  # fmt: skip
UNARY = 11
ATOM = 12
_MIXED = frozenset({"&", "|", "^", "<<", ">>", "==", "!=", "<", "<=", ">", ">=", "&&", "||", "?"})


class Expr(NamedTuple):
    """Text of C++ with how tightly it binds and whether it reads memory.

    `kind` is "int" for an operator of integers whose low bits depend only on the low bits of `parts`, "extend" for
    an integer made wider, "constant"; `cast` is the text inside of an outermost conversion to `type`.
    """

    text: str
    binds: int = ATOM
    reads: bool = False
    effect: bool = False
    kind: str = ""
    operator: str = ""
    parts: tuple[Expr, ...] = ()
    type: str = ""
    width: int = 0
    unsigned: bool = False  # of "extend": with zeros
    cast: str = ""
    value: int | None = None  # of "constant"

    @property
    def compound(self) -> bool:
        """Whether it is more than a name or a number."""
        if self.kind in ("sign", "extend"):
            return self.parts[0].compound
        return self.binds < ATOM or self.reads or bool(self.cast) or self.kind in ("int", "call")


def atom(expr: Expr, at_least: int = ATOM) -> str:
    """The text, in parentheses if it binds less tightly than its place needs."""
    return expr.text if expr.binds >= at_least else f"({expr.text})"


def reads(parts: Sequence[Expr]) -> bool:
    return any(part.reads for part in parts)


def infix(operator: str, lhs: Expr, rhs: Expr, type_text: str = "") -> Expr:
    """`lhs operator rhs` with the parentheses that it needs, and those that compilers ask for."""
    binds = PRECEDENCE[operator]
    least = (
        UNARY
        if operator in _MIXED and operator not in ("&&", "||", "<", "<=", ">", ">=", "==", "!=")
        else binds
    )
    left, right = atom(lhs, least), atom(rhs, max(least, binds + 1))
    if operator in ("<", "<=", ">", ">=", "==", "!="):
        left, right = atom(lhs, PRECEDENCE["<<"]), atom(rhs, PRECEDENCE["<<"])
    elif operator == "||":  # of `&&` in it compilers warn
        left, right = (
            f"({part.text})" if part.binds == PRECEDENCE["&&"] else text for part, text in ((lhs, left), (rhs, right))
        )
    return Expr(
        f"{left} {operator} {right}", binds, lhs.reads or rhs.reads, operator=operator, type=type_text
    )


def convert(type_text: str, expr: Expr) -> Expr:
    """`type(expr)`; the expression itself if it has the type."""
    if expr.type == type_text:
        return expr
    return Expr(f"{type_text}({expr.text})", ATOM, expr.reads, type=type_text, cast=expr.text)


def call(function: str, arguments: Sequence[Expr], type_text: str = "") -> Expr:
    text = f"{function}({', '.join(argument.text for argument in arguments)})"
    return Expr(text, ATOM, reads(arguments), type=type_text, kind="call")


def integer(value: int, width: int) -> Expr:
    """A constant of arithmetic, read as signed."""
    value &= (1 << width) - 1
    if width == 1:
        return Expr("true" if value else "false", type="bool", kind="constant", width=1, value=value)
    if value >> (width - 1):
        value -= 1 << width
    text = _digits(value, width)
    binds = UNARY if text[0] == "-" else ATOM
    return Expr(text, binds, type=signed_type(width), kind="constant", width=width, value=value)


def named_integer(name: str, width: int) -> Expr:
    """A constant that has a name, an `int` that `width` bits hold as signed; it is a subscript if there are none."""
    if width in (0, 32):
        return Expr(name, type=signed_type(width) if width else "int", width=width)
    target = signed_type(width)
    return Expr(f"{target}({name})", type=target, width=width, cast=name)


def _digits(value: int, width: int) -> str:
    if -(2**31) < value < 2**31:
        return str(value) if width <= 32 else f"{signed_type(width)}({value})"
    if width <= 32:
        return f"int32_t({value}LL)"
    if -(2**63) < value < 2**63:
        return f"{signed_type(width)}({value}LL)"
    if width <= 64:
        return "int64_t(-9223372036854775807LL - 1)"
    return f'{signed_type(width)}("{value}", 10)'


def as_unsigned(expr: Expr) -> Expr:
    """The integer of arithmetic read as unsigned."""
    if expr.kind == "constant":
        return _unsigned_constant(expr)
    if expr.kind == "extend" and expr.unsigned:
        return convert(unsigned_type(expr.width), expr.parts[0])
    if expr.kind == "sign":  # it comes from an unsigned integer
        return expr.parts[0]
    return convert(unsigned_type(expr.width), expr)


def _unsigned_constant(expr: Expr) -> Expr:
    assert expr.value is not None
    value, target = expr.value & ((1 << expr.width) - 1), unsigned_type(expr.width)
    if expr.width == 1 or (value < 2**31 and expr.width <= 32):
        text = expr.text if expr.width == 1 else str(value)
    else:
        text = f"{target}({value}ULL)" if value < 2**64 else f'{target}("{value}", 10)'
    return Expr(text, ATOM, type=target, width=expr.width, value=value)


def from_unsigned(expr: Expr, width: int) -> Expr:
    """An unsigned integer as one of arithmetic; what it was is kept for those that read it as unsigned."""
    made = convert(signed_type(width), expr)
    return Expr(
        made.text,
        made.binds,
        made.reads,
        kind="sign",
        parts=(expr,),
        type=made.type,
        width=width,
        cast=made.cast,
    )


def extend(expr: Expr, width: int, *, unsigned: bool) -> Expr:
    """The integer with more bits, of its sign or zeros."""
    if expr.value is not None:
        return integer(expr.value % (1 << expr.width) if unsigned else _signed(expr.value, expr.width), width)
    if expr.width == 1 and not unsigned:
        made = Expr(
            f"{signed_type(width)}({atom(expr, PRECEDENCE['||'])} ? -1 : 0)",
            ATOM,
            expr.reads,
            type=signed_type(width),
        )
        return Expr(made.text, ATOM, made.reads, type=made.type, width=width, kind="call")
    source = as_unsigned(expr) if unsigned and expr.width > 1 else expr
    made = convert(signed_type(width), source)
    return Expr(
        made.text, made.binds, made.reads, kind="extend", parts=(source, expr), type=made.type, width=width,
        unsigned=unsigned, cast=made.cast
    )  # fmt: skip


def arithmetic(operator: str, lhs: Expr, rhs: Expr, width: int) -> Expr:
    """`+ - * & | ^` of two integers of `width` bits, modulo 2**width."""
    target = signed_type(width)
    left, right = lhs, rhs
    if operator in "+-*" and not is_native(
        target
    ):  # these grow: what is narrower need not be made wider first
        if rhs.kind == "extend":
            right = rhs.parts[0] if not is_native(rhs.parts[0].type) or not is_native(lhs.type) else rhs
        elif rhs.kind == "constant":
            right = _plain_constant(rhs)
    whole = infix(operator, left, right)
    if width in (32, 64):
        return Expr(
            whole.text,
            whole.binds,
            whole.reads,
            kind="int",
            operator=operator,
            parts=(lhs, rhs),
            type=target,
            width=width,
        )
    return Expr(
        f"{target}({whole.text})", ATOM, whole.reads, kind="int", operator=operator, parts=(lhs, rhs),
        type=target, width=width, cast=whole.text,
    )  # fmt: skip


def _plain_constant(expr: Expr) -> Expr:
    """The constant as a plain `int`, if it is one."""
    value = expr.value
    if value is None or not -(2**31) < value < 2**31:
        return expr
    return Expr(str(value), ATOM if value >= 0 else UNARY)


def _signed(value: int, width: int) -> int:
    value &= (1 << width) - 1
    return value - (1 << width) if value >> (width - 1) else value


def low_bits(expr: Expr, width: int) -> Expr:
    """The low `width` bits: those of sums and products need only those of the operands."""
    if expr.kind == "int":
        lhs, rhs = (low_bits(part, width) for part in expr.parts)
        return arithmetic(expr.operator, lhs, rhs, width) if width > 1 else _truth(expr)
    if expr.kind == "extend" and width > 1:
        return _refit(expr, width)
    if expr.kind == "constant" and expr.value is not None:
        return integer(expr.value, width)
    if width == 1:
        return _truth(expr)
    if expr.kind == "sign":
        return from_unsigned(convert(unsigned_type(width), expr.parts[0]), width)
    made = convert(signed_type(width), expr)
    return Expr(made.text, made.binds, made.reads, type=made.type, width=width, cast=made.cast)


def _refit(expr: Expr, width: int) -> Expr:
    """What was made wider, at another width."""
    _source, original = expr.parts
    if width > original.width:
        return extend(original, width, unsigned=expr.unsigned)
    return original if width == original.width else low_bits(original, width)


def _truth(expr: Expr) -> Expr:
    return Expr(f"bool(ap_uint<1>({expr.text}))", ATOM, expr.reads, type="bool", width=1, kind="call")
