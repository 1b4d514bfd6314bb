"""Operations on scalars as expressions of C++, bit for bit."""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
from mlir import ir

from ....ir.mlir_types import integer_of, scalar_from_mlir
from ....ir.types import Fixed, UFixed
from .affine import AffineCode
from .cxx_types import TypeNames, fixed_type, is_native, signed_type, unsigned_type
from .expression import (
    ATOM,
    PRECEDENCE,
    UNARY,
    Expr,
    arithmetic,
    as_unsigned,
    atom,
    call,
    convert,
    extend,
    from_unsigned,
    infix,
    integer,
    low_bits,
)

_MODULAR = {"addi": "+", "subi": "-", "muli": "*", "andi": "&", "ori": "|", "xori": "^"}
_DIVISION = {"divsi": ("/", False), "divui": ("/", True), "remsi": ("%", False), "remui": ("%", True)}
_SHIFTS = {"shli": ("<<", False), "shrsi": (">>", False), "shrui": (">>", True)}
_LEAST = {"minsi": ("min", False), "minui": ("min", True), "maxsi": ("max", False), "maxui": ("max", True)}
_TRUTH = {"addi": "!=", "subi": "!=", "muli": "&&", "andi": "&&", "ori": "||", "xori": "!="}
_COMPARE = ("==", "!=", "<", "<=", ">", ">=", "<", "<=", ">", ">=")
CONSTANT_PREDICATES = (0, 15)  # of `arith.cmpf`: never and always
SHORT = ("half", "bfloat16")
MATH = {
    "exp": "hls::exp", "log": "hls::log", "log2": "hls::log2", "log10": "hls::log10", "sqrt": "hls::sqrt",
    "sin": "hls::sin", "cos": "hls::cos", "tan": "hls::tan", "tanh": "hls::tanh", "powf": "hls::pow",
    "floor": "hls::floor", "ceil": "hls::ceil", "absf": "hls::fabs",
    "fmod": "hls::fmod",
}  # fmt: skip


type Form = tuple[Any, ...]  # a method, and what it is given before an operation and its operands


class OperationWriter:
    """Writes operations; remembers which functions of the prelude they need."""

    def __init__(self, types: TypeNames) -> None:
        self.types = types
        self.needs: set[str] = set()
        self.affine = AffineCode(self.needs)

    @classmethod
    @cache
    def forms(cls) -> dict[str, Form]:
        """How operations are written."""
        return {
            "arith.floordivsi": (cls._floor_or_ceil, "floor_div"),
            "arith.ceildivsi": (cls._floor_or_ceil, "ceil_div"),
            "math.absi": (cls._absi,),
            "arith.cmpi": (cls._cmpi,),
            "arith.extsi": (cls._extsi,),
            "arith.extui": (cls._extui,),
            "arith.trunci": (cls._trunci,),
            "arith.index_cast": (cls._index_cast,),
            "arith.index_castui": (cls._index_castui,),
            "allo.sign_cast": (cls._sign_cast,),
            "arith.constant": (cls._constant,),
            "arith.select": (cls._select,),
            **{f"arith.{name}": (cls._modular, name) for name in _MODULAR},
            **{f"arith.{name}": (cls._division, *how) for name, how in _DIVISION.items()},
            **{f"arith.{name}": (cls._shift, *how) for name, how in _SHIFTS.items()},
            **{f"arith.{name}": (cls._least, *how) for name, how in _LEAST.items()},
        }

    def expression(self, op: ir.Operation, operands: list[Expr]) -> Expr | None:
        """The value of an operation with one result; None if it is none that this class knows."""
        form = self.forms().get(op.name)
        if form is None:
            return None
        method, *given = form
        made: Expr = method(self, *given, op, operands)
        return made

    # -- integers --------------------------------------------------------------------------------

    def _modular(self, name: str, op: ir.Operation, operands: list[Expr]) -> Expr:
        width = width_of(op.results[0])
        if width == 0:
            return infix(_MODULAR[name], operands[0], operands[1], _index_type(operands))
        if width == 1:
            lhs, rhs = operands
            if name == "xori" and rhs.value == 1:
                return Expr(f"!{atom(lhs)}", UNARY, lhs.reads, type="bool", width=1)
            return with_width(infix(_TRUTH[name], lhs, rhs, "bool"), 1)
        return arithmetic(_MODULAR[name], operands[0], operands[1], width)

    def _division(self, operator: str, unsigned: bool, op: ir.Operation, operands: list[Expr]) -> Expr:
        width = width_of(op.results[0])
        if width == 0 and unsigned:
            lhs, rhs = (convert("uint64_t", operand) for operand in operands)
            return convert("int64_t", infix(operator, lhs, rhs, "uint64_t"))
        if width == 0:
            return infix(operator, operands[0], operands[1], _index_type(operands))
        if width == 1:
            return operands[0] if operator == "/" else integer(0, 1)
        lhs, rhs = map(as_unsigned, operands) if unsigned else operands
        target = unsigned_type(width) if unsigned else signed_type(width)
        whole = _typed(infix(operator, lhs, rhs), target, width)
        return from_unsigned(whole, width) if unsigned else with_width(whole, width)

    def _floor_or_ceil(self, function: str, op: ir.Operation, operands: list[Expr]) -> Expr:
        width = width_of(op.results[0])
        self.needs.update(("floor_div", function))
        target = signed_type(width) if width else _index_type(operands)
        return with_width(call(f"{function}<{target}>", operands, target), width)

    def _shift(self, operator: str, unsigned: bool, op: ir.Operation, operands: list[Expr]) -> Expr:
        width = width_of(op.results[0])
        if width == 0:
            target = "uint64_t" if unsigned else "int64_t"
            return convert("int64_t", infix(operator, convert(target, operands[0]), operands[1], target))
        if width == 1:
            return operands[0]
        amount = as_unsigned(operands[1])
        if amount.value is None and not (is_native(amount.type) and width <= 32):
            amount = convert("int", amount)
        value = as_unsigned(operands[0]) if unsigned else operands[0]
        target = unsigned_type(width) if unsigned else signed_type(width)
        if operator == "<<" and is_native(target) and width == 32:
            whole = infix(operator, value, amount, target)
        else:
            whole = _typed(infix(operator, value, amount), target, width)
        return from_unsigned(whole, width) if unsigned else with_width(whole, width)

    def _least(self, function: str, unsigned: bool, op: ir.Operation, operands: list[Expr]) -> Expr:
        width = width_of(op.results[0])
        if width == 0:
            target = "uint64_t" if unsigned else _index_type(operands)
            made = call(f"std::{function}<{target}>", operands, target)
            return convert("int64_t", made) if unsigned else made
        lhs, rhs = map(as_unsigned, operands) if unsigned else operands
        target = unsigned_type(width) if unsigned else signed_type(width)
        made = call(f"std::{function}<{target}>", [lhs, rhs], target)
        return from_unsigned(made, width) if unsigned else with_width(made, width)

    def _absi(self, op: ir.Operation, operands: list[Expr]) -> Expr:
        width = width_of(op.results[0])
        self.needs.add("absolute")
        return with_width(call(f"absolute<{signed_type(width)}>", operands, signed_type(width)), width)

    def _cmpi(self, op: ir.Operation, operands: list[Expr]) -> Expr:
        predicate = ir.IntegerAttr(op.attributes["predicate"]).value
        if predicate >= 6 and not width_of(op.operands[0]):  # subscripts
            wide = [
                operand if operand.value is not None else convert("uint64_t", operand) for operand in operands
            ]
            return with_width(infix(_COMPARE[predicate], wide[0], wide[1], "bool"), 1)
        if predicate >= 6 or (
            predicate < 2 and all(operand.kind == "sign" or operand.value is not None for operand in operands)
        ):
            operands = [as_unsigned(operand) for operand in operands]
        elif predicate >= 2 and width_of(op.operands[0]) == 1:
            operands = [extend(operand, 8, unsigned=False) for operand in operands]
        return with_width(infix(_COMPARE[predicate], operands[0], operands[1], "bool"), 1)

    def _extsi(self, op: ir.Operation, operands: list[Expr]) -> Expr:
        return extend(operands[0], width_of(op.results[0]), unsigned=False)

    def _extui(self, op: ir.Operation, operands: list[Expr]) -> Expr:
        return extend(operands[0], width_of(op.results[0]), unsigned=True)

    def _trunci(self, op: ir.Operation, operands: list[Expr]) -> Expr:
        return low_bits(operands[0], width_of(op.results[0]))

    def _index_cast(self, op: ir.Operation, operands: list[Expr]) -> Expr:
        width = width_of(op.results[0])
        operand = operands[0]
        if width:
            if operand.value is not None:
                return integer(operand.value, width)
            if operand.type == "int" and width == 32:
                return Expr(
                    operand.text, operand.binds, operand.reads, kind=operand.kind, type="int32_t", width=32
                )
            if width == 1:
                return low_bits(operand, 1)
            if operand.type == "int":
                number = Expr(operand.text, operand.binds, operand.reads, type="int32_t", width=32)
                return extend(number, width, unsigned=False) if width > 32 else low_bits(number, width)
            return with_width(convert(signed_type(width), operand), width)
        if operand.type in ("int8_t", "int16_t", "int32_t"):
            return Expr(operand.text, operand.binds, operand.reads, kind="index", type="int")
        narrow = width_of(op.operands[0]) <= 32 or _only_subscripts(op.results[0])
        return convert("int" if narrow else "int64_t", operand)

    def _index_castui(self, op: ir.Operation, operands: list[Expr]) -> Expr:
        if width_of(op.results[0]):
            return self._index_cast(op, operands)
        return convert("int", as_unsigned(operands[0]))

    def _sign_cast(self, op: ir.Operation, operands: list[Expr]) -> Expr:
        source, result = op.operands[0].type, op.results[0].type
        width = result.width
        if result.is_unsigned:
            return convert(self.types.of(result), as_unsigned(operands[0]))
        if result.is_signed:
            return convert(self.types.of(result), operands[0])
        if source.is_unsigned and width > 1:
            return from_unsigned(operands[0], width)
        return with_width(convert(signed_type(width), operands[0]), width)

    # -- every type ------------------------------------------------------------------------------

    def _constant(self, op: ir.Operation, operands: list[Expr]) -> Expr:
        value = op.attributes["value"]
        kind = op.results[0].type
        if isinstance(kind, ir.IndexType):
            number = ir.IntegerAttr(value).value
            return Expr(str(number), UNARY if number < 0 else 12, type="int", kind="constant", value=number)
        if isinstance(kind, ir.IntegerType):
            return integer(integer_of(value), kind.width)
        return self.float_constant(ir.FloatAttr(value).value, kind)

    def float_constant(self, value: float, kind: ir.Type) -> Expr:
        """The shortest digits that are the number."""
        target = self.types.of(kind)
        return Expr(float_text(value, target), UNARY if math.copysign(1, value) < 0 else 12, type=target)

    def _select(self, op: ir.Operation, operands: list[Expr]) -> Expr:
        test, first, second = operands
        kind = op.results[0].type
        if isinstance(kind, ir.IntegerType | ir.IndexType):
            width = width_of(op.results[0])
            target = signed_type(width) if width else "int"
        else:
            target = self._value_type(kind)
        return with_width(choice(test, first, second, target), width_of(op.results[0]))

    def _value_type(self, kind: ir.Type) -> str:
        scalar = scalar_from_mlir(kind)
        if isinstance(scalar, Fixed | UFixed):
            return fixed_type(scalar, modes=False)
        return self.types.of(kind)


def needed_operands(op: ir.Operation) -> list[ir.Value]:
    """The operands that the value of an operation depends on, which are its first ones."""
    operands = list(op.operands)
    name = op.name.removeprefix("arith.")
    if name in _DIVISION and width_of(op.results[0]) == 1:
        return operands[:1] if _DIVISION[name][0] == "/" else []  # one bit is divided by one, or, signed, -1 by -1
    if name in _SHIFTS and width_of(op.results[0]) == 1:
        return operands[:1]  # one bit can be shifted by 0 only
    if name == "cmpf" and ir.IntegerAttr(op.attributes["predicate"]).value in CONSTANT_PREDICATES:
        return []
    return operands


def _index_type(operands: Sequence[Expr]) -> str:
    """Arguments that are indices have 64 bits, and what is computed from them too; the others are plain `int`."""
    return "int64_t" if any(operand.type == "int64_t" for operand in operands) else "int"


def _only_subscripts(value: ir.Value) -> bool:
    """Whether an index names elements only, of which no array has more than an `int` can count."""
    accesses = {"affine.load": 1, "memref.load": 1, "affine.store": 2, "memref.store": 2}  # the first subscript
    users = [(use.owner.operation.name, use.operand_number) for use in value.uses]
    return all(place >= accesses.get(name, 1 << 31) for name, place in users)


def _only_digits(part: Expr) -> bool:
    """Whether a constant of a type that C++ lacks is written as an `int`."""
    return part.kind == "constant" and not is_native(part.type) and not part.text.startswith("ap_")


def _made(target: str, part: Expr) -> Expr:
    return Expr(f"{target}({part.text})", ATOM, part.reads, type=target)


def choice(test: Expr, first: Expr, second: Expr, target: str) -> Expr:
    """`test ? first : second`, both converted to `target`."""
    texts = [
        part if part.type == target and not _only_digits(part) else _made(target, part)
        for part in (first, second)
    ]
    left, right = (atom(part, PRECEDENCE["||"]) for part in texts)
    text = f"{atom(test, PRECEDENCE['||'])} ? {left} : {right}"
    return Expr(text, PRECEDENCE["?"], test.reads or first.reads or second.reads, type=target)


def float_text(value: float, target: str) -> str:
    """A literal of the type."""
    if math.isnan(value):
        text = "NAN"
    elif math.isinf(value):
        text = "INFINITY" if value > 0 else "-INFINITY"
    elif target == "double":
        return repr(float(value))
    else:
        digits = str(np.float32(value))
        text = f"{digits if '.' in digits or 'e' in digits else digits + '.0'}f"
    return f"{target}({text})" if target in SHORT else text


def float_of_bits(bits: int, width: int, *, brain: bool = False) -> float:
    """The float with these bits."""
    if brain:
        bits, width = bits << 16, 32
    code = {16: "<e", 32: "<f", 64: "<d"}[width]
    return float(struct.unpack(code, bits.to_bytes(width // 8, "little"))[0])


def width_of(value: ir.Value) -> int:
    """The bits of an integer; 0 for others."""
    return int(value.type.width) if isinstance(value.type, ir.IntegerType) else 0


def _typed(whole: Expr, target: str, width: int) -> Expr:
    """`whole` converted; a result of plain C++ has the type from 32 bits on."""
    if is_native(target) and width >= 32:
        return Expr(whole.text, whole.binds, whole.reads, type=target, width=width)
    return Expr(f"{target}({whole.text})", reads=whole.reads, type=target, width=width, cast=whole.text)


def with_width(expr: Expr, width: int) -> Expr:
    if not width or expr.width == width:
        return expr
    return Expr(expr.text, expr.binds, expr.reads, expr.effect, expr.kind, expr.operator, expr.parts, expr.type, width,
                expr.unsigned, expr.cast, expr.value)  # fmt: skip
