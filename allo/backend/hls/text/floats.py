"""Float arithmetic in C++, and conversions of floats to integers."""

from __future__ import annotations

import math
from functools import cache

from mlir import ir

from .cxx_types import is_native, signed_type, unsigned_type
from .expression import (
    ATOM,
    UNARY,
    Expr,
    as_unsigned,
    atom,
    call,
    convert,
    extend,
    from_unsigned,
    infix,
    integer,
)
from .operations import (
    CONSTANT_PREDICATES,
    MATH,
    SHORT,
    Form,
    OperationWriter,
    float_text,
    width_of,
    with_width,
)

_ARITHMETIC = {"addf": "+", "subf": "-", "mulf": "*", "divf": "/"}
# of `arith.cmpf`: the operator, or the one whose opposite it is
_ORDERED = {1: "==", 2: ">", 3: ">=", 4: "<", 5: "<=", 13: "!="}
_OPPOSITE = {9: "<=", 10: "<", 11: ">=", 12: ">"}


class FloatWriter(OperationWriter):
    """The operations on floats."""

    @classmethod
    @cache
    def forms(cls) -> dict[str, Form]:
        return super().forms() | {
            "arith.negf": (cls._negf,),
            "arith.remf": (cls._function, MATH["fmod"]),
            "arith.cmpf": (cls._cmpf,),
            "arith.maximumf": (cls._extreme, "maximum"),
            "arith.minimumf": (cls._extreme, "minimum"),
            "arith.maxnumf": (cls._extreme, "maximum_number"),
            "arith.minnumf": (cls._extreme, "minimum_number"),
            "arith.extf": (cls._float_cast,),
            "arith.truncf": (cls._float_cast,),
            "arith.sitofp": (cls._sitofp,),
            "arith.uitofp": (cls._uitofp,),
            "arith.fptosi": (cls._fptosi,),
            "arith.fptoui": (cls._fptoui,),
            **{f"arith.{name}": (cls._infix, operator) for name, operator in _ARITHMETIC.items()},
            **{f"math.{name}": (cls._function, function) for name, function in MATH.items()},
        }

    def _infix(self, operator: str, op: ir.Operation, operands: list[Expr]) -> Expr:
        return infix(operator, operands[0], operands[1], self.types.of(op.results[0].type))

    def _function(self, function: str, op: ir.Operation, operands: list[Expr]) -> Expr:
        """A function of mathematics; those of bfloat16 are computed in float."""
        target = self.types.of(op.results[0].type)
        if target != "bfloat16":
            return call(function, operands, target)
        return convert(target, call(function, [convert("float", operand) for operand in operands], "float"))

    def _negf(self, op: ir.Operation, operands: list[Expr]) -> Expr:
        return Expr(f"-{atom(operands[0])}", UNARY, operands[0].reads, type=operands[0].type)

    def _cmpf(self, op: ir.Operation, operands: list[Expr]) -> Expr:
        predicate = ir.IntegerAttr(op.attributes["predicate"]).value
        if predicate in CONSTANT_PREDICATES:
            return integer(int(predicate > 0), 1)
        lhs, rhs = operands
        if predicate in _ORDERED:
            return with_width(infix(_ORDERED[predicate], lhs, rhs, "bool"), 1)
        if predicate in _OPPOSITE:
            return _negation(infix(_OPPOSITE[predicate], lhs, rhs, "bool"))
        if predicate in (6, 8):  # less or greater; equal or unordered
            differ = infix("||", infix("<", lhs, rhs, "bool"), infix(">", lhs, rhs, "bool"), "bool")
            return with_width(differ, 1) if predicate == 6 else _negation(differ)
        numbers = infix("&&", infix("==", lhs, lhs, "bool"), infix("==", rhs, rhs, "bool"), "bool")
        return with_width(numbers, 1) if predicate == 7 else _negation(numbers)

    def _extreme(self, function: str, op: ir.Operation, operands: list[Expr]) -> Expr:
        self.needs.add(function)
        return call(f"{function}", operands, self.types.of(op.results[0].type))

    def _float_cast(self, op: ir.Operation, operands: list[Expr]) -> Expr:
        return convert(self.types.of(op.results[0].type), operands[0])

    def _sitofp(self, op: ir.Operation, operands: list[Expr]) -> Expr:
        width = width_of(op.operands[0])
        operand = extend(operands[0], 8, unsigned=False) if width == 1 else operands[0]
        return self._to_float(op, operand, max(width, 8), signed_type(64))

    def _uitofp(self, op: ir.Operation, operands: list[Expr]) -> Expr:
        return self._to_float(op, as_unsigned(operands[0]), width_of(op.operands[0]), unsigned_type(64))

    def _to_float(self, op: ir.Operation, operand: Expr, width: int, native: str) -> Expr:
        target = self.types.of(op.results[0].type)
        if width > 64:
            return convert(target, Expr(f"{atom(operand)}.to_double()", reads=operand.reads, type="double"))
        if not is_native(operand.type):
            operand = convert(native, operand)
        return convert(target, convert("float", operand) if target in SHORT else operand)

    def _fptosi(self, op: ir.Operation, operands: list[Expr]) -> Expr:
        width, number = width_of(op.results[0]), _wide(operands[0])
        if width == 1:
            return with_width(infix("<=", number, _power_of_two(0, number.type, "-"), "bool"), 1)
        self.needs.add("to_signed")
        bound = _power_of_two(width - 1, number.type)
        target = signed_type(width)
        return with_width(call(f"to_signed<{_by_way_of(target, width, 'int')}>", [number, bound], target), width)

    def _fptoui(self, op: ir.Operation, operands: list[Expr]) -> Expr:
        width, number = width_of(op.results[0]), _wide(operands[0])
        if width == 1:
            return with_width(infix(">=", number, _power_of_two(0, number.type), "bool"), 1)
        self.needs.add("to_unsigned")
        bound = _power_of_two(width, number.type)
        target = unsigned_type(width)
        made = call(f"to_unsigned<{_by_way_of(target, width, 'uint')}>", [number, bound], target)
        return from_unsigned(made, width)


def _wide(expr: Expr) -> Expr:
    return convert("float", expr) if expr.type in SHORT else expr


def _power_of_two(exponent: int, type_text: str, sign: str = "") -> Expr:
    """2**exponent as a number of the type; infinity beyond its range."""
    largest = 1023 if type_text == "double" else 127
    value = math.inf if exponent > largest else 2.0**exponent
    return Expr(sign + float_text(value, type_text), UNARY if sign else ATOM, type=type_text)


def _by_way_of(target: str, width: int, native: str) -> str:
    """The arguments of `to_signed`: the type, its bits, and the one that floats convert to if C++ lacks the type."""
    if is_native(target):
        return f"{target}, {width}"
    middle = target if width > 64 else f"{native}{32 if width < 32 else 64}_t"
    return f"{target}, {width}, {middle}"


def _negation(expr: Expr) -> Expr:
    return Expr(f"!({expr.text})", UNARY, expr.reads, type="bool", width=1)
