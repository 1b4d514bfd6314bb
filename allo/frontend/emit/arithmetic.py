"""Emitter of arithmetic and conversions of scalars, by their types, as operations of `arith`, `math` and `allo`."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from typing import Any

from mlir import ir

from ...ir.builder import Builder
from ...ir.context import context
from ...ir.mlir_types import arith_type, storage_type
from ...ir.types import AlloType, Bool, Fixed, Float, Index, Int, UFixed, float32, float64
from ..typing.nodes import Binary, Const

_FLOAT_OPS = {"+": "arith.addf", "-": "arith.subf", "*": "arith.mulf", "/": "arith.divf"}
_INT_OPS = {
    "+": ("arith.addi", "arith.addi"),
    "-": ("arith.subi", "arith.subi"),
    "*": ("arith.muli", "arith.muli"),
    "/": ("arith.divsi", "arith.divui"),
    "//": ("arith.floordivsi", "arith.divui"),
    "%": ("arith.remsi", "arith.remui"),
    "rem": ("arith.remsi", "arith.remui"),
    "<<": ("arith.shli", "arith.shli"),
    ">>": ("arith.shrsi", "arith.shrui"),
    "&": ("arith.andi", "arith.andi"),
    "|": ("arith.ori", "arith.ori"),
    "^": ("arith.xori", "arith.xori"),
    "min": ("arith.minsi", "arith.minui"),
    "max": ("arith.maxsi", "arith.maxui"),
}
_SIGNED_PREDICATES = {"==": 0, "!=": 1, "<": 2, "<=": 3, ">": 4, ">=": 5}
_UNSIGNED_PREDICATES = {"==": 0, "!=": 1, "<": 6, "<=": 7, ">": 8, ">=": 9}
_FLOAT_PREDICATES = {"==": 1, "!=": 13, "<": 4, "<=": 5, ">": 2, ">=": 3}


@cache
def _i64_attr(value: int) -> ir.IntegerAttr:
    return ir.IntegerAttr.get(ir.IntegerType.get_signless(64, context()), value)


def _signed(scalar: AlloType) -> bool:
    return isinstance(scalar, Int | Index)


class ArithmeticEmitter:
    """Emits operations on values at the builder's insertion point."""

    def __init__(self, builder: Builder) -> None:
        self.builder = builder

    def integer(self, type_: ir.Type, value: int) -> ir.Value:
        return self.builder.constant(type_, value)

    def from_storage(self, value: ir.Value, scalar: AlloType) -> ir.Value:
        """A value as memory and calls give it, for arithmetic."""
        if value.type == arith_type(scalar):
            return value
        return self.builder.value("allo.sign_cast", arith_type(scalar), [value])

    def to_storage(self, value: ir.Value, scalar: AlloType) -> ir.Value:
        """A value of arithmetic, for memory and calls."""
        if value.type == storage_type(scalar):
            return value
        return self.builder.value("allo.sign_cast", storage_type(scalar), [value])

    # -- arithmetic ------------------------------------------------------------------------------

    def _float(self, expr: Binary, lhs: ir.Value, rhs: ir.Value) -> ir.Value:
        b, result = self.builder, lhs.type
        if expr.op in _FLOAT_OPS:
            return b.value(_FLOAT_OPS[expr.op], result, [lhs, rhs])
        if expr.op in ("min", "max"):  # as Python: the first operand unless the second one is less (greater)
            better = self._compare("<" if expr.op == "min" else ">", expr.type, rhs, lhs)
            return b.value("arith.select", result, [better, rhs, lhs])
        if expr.op == "//":
            return b.value("math.floor", result, [b.value("arith.divf", result, [lhs, rhs])])
        remainder = b.value("arith.remf", result, [lhs, rhs])
        if expr.op == "rem":
            return remainder
        return self._floor_remainder(expr.type, remainder, rhs, "arith.addf")

    def _constant(self, scalar: AlloType, value: Any) -> ir.Value:
        if not isinstance(scalar, Fixed | UFixed):
            return self.builder.constant(arith_type(scalar), value)
        mantissa = ir.Attribute.parse(f"{int(value * 2**scalar.fracs)} : i{scalar.width}", context())
        return self.builder.value("allo.fixed_constant", arith_type(scalar), (), {"mantissa": mantissa})

    def _fixed(self, expr: Binary, lhs: ir.Value, rhs: ir.Value) -> ir.Value:
        if expr.op in ("min", "max"):
            better = self._compare("<" if expr.op == "min" else ">", expr.type, rhs, lhs)
            return self.builder.value("arith.select", lhs.type, [better, rhs, lhs])
        name = {"+": "add", "-": "sub", "*": "mul", "/": "div"}[expr.op]
        if expr.op == "/" and not isinstance(expr.rhs, Const):
            divisor = expr.rhs.type
            assert isinstance(divisor, Fixed | UFixed)
            least = self._constant(divisor, Fraction(1, 2**divisor.fracs))
            is_zero = self._compare("==", divisor, rhs, self._constant(divisor, 0))
            rhs = self.builder.value("arith.select", rhs.type, [is_zero, least, rhs])
        return self.builder.value(f"allo.fixed_{name}", arith_type(expr.type), [lhs, rhs])

    def _int(self, expr: Binary, lhs: ir.Value, rhs: ir.Value) -> ir.Value:
        signed = _signed(expr.type)
        if expr.op in ("<<", ">>"):
            return self._shift(expr, lhs, rhs)
        if expr.op in ("/", "//", "%", "rem") and not isinstance(expr.rhs, Const):
            rhs = self._safe_divisor(rhs, signed and expr.op in ("%", "rem"))
        if expr.op == "//" and signed and expr.type.bits > 64:
            return self._floor_quotient(expr.type, lhs, rhs)
        result = self.builder.value(_INT_OPS[expr.op][0 if signed else 1], lhs.type, [lhs, rhs])
        if expr.op == "%" and signed:
            if isinstance(expr.rhs, Const) and expr.rhs.value > 0:
                return self._wrap_negative(result, rhs)
            return self._floor_remainder(expr.type, result, rhs, "arith.addi")
        return result

    def _floor_quotient(self, scalar: AlloType, lhs: ir.Value, rhs: ir.Value) -> ir.Value:
        """As `arith.floordivsi`, whose lowering takes its -1 for 2**64 - 1 in wider types."""
        b = self.builder
        quotient = b.value("arith.divsi", lhs.type, [lhs, rhs])
        rest = b.value("arith.subi", lhs.type, [lhs, b.value("arith.muli", lhs.type, [quotient, rhs])])
        zero = self.integer(lhs.type, 0)
        differ = self._compare("<", scalar, b.value("arith.xori", lhs.type, [rest, rhs]), zero)
        inexact = self._compare("!=", scalar, rest, zero)
        wrong = b.value("arith.andi", arith_type(Bool()), [inexact, differ])
        lower = b.value("arith.subi", lhs.type, [quotient, self.integer(lhs.type, 1)])
        return b.value("arith.select", lhs.type, [wrong, lower, quotient])

    def _wrap_negative(self, remainder: ir.Value, divisor: ir.Value) -> ir.Value:
        """The remainder by a positive divisor, moved into 0 <= r < divisor."""
        negative = self._cmpi(_SIGNED_PREDICATES["<"], remainder, self.integer(remainder.type, 0))
        moved = self.builder.value("arith.addi", remainder.type, [remainder, divisor])
        return self.builder.value("arith.select", remainder.type, [negative, moved, remainder])

    def _safe_divisor(self, divisor: ir.Value, signed_remainder: bool) -> ir.Value:
        """One instead of 0, and for a remainder instead of -1: those end the process (-1 with the least number)."""
        one = self.integer(divisor.type, 1)
        if signed_remainder:
            raised = self.builder.value("arith.addi", divisor.type, [divisor, one])
            unsafe = self._cmpi(_UNSIGNED_PREDICATES["<="], raised, one)
        else:
            unsafe = self._cmpi(_SIGNED_PREDICATES["=="], divisor, self.integer(divisor.type, 0))
        return self.builder.value("arith.select", divisor.type, [unsafe, one, divisor])

    def _floor_remainder(
        self, scalar: AlloType, remainder: ir.Value, divisor: ir.Value, add: str
    ) -> ir.Value:
        """The remainder with the sign of the divisor, as Python's `%` has it."""
        b = self.builder
        zero = b.constant(remainder.type, 0)
        nonzero = self._compare("!=", scalar, remainder, zero)
        differ = b.value(
            "arith.xori",
            nonzero.type,
            [self._compare("<", scalar, remainder, zero), self._compare("<", scalar, divisor, zero)],
        )
        wrong = b.value("arith.andi", nonzero.type, [nonzero, differ])
        moved = b.value(add, remainder.type, [remainder, divisor])
        return b.value("arith.select", remainder.type, [wrong, moved, remainder])

    def _shift(self, expr: Binary, value: ir.Value, amount: ir.Value) -> ir.Value:
        """Shifts by any amount; one not less than the width leaves zero (or the sign)."""
        b, width = self.builder, expr.type.bits
        signed = _signed(expr.type)
        arithmetic = expr.op == ">>" and signed
        fits = self.cast(amount, expr.rhs.type, expr.type)
        if isinstance(expr.rhs, Const) and int(expr.rhs.value) < width:
            return b.value(_INT_OPS[expr.op][0 if signed else 1], value.type, [value, fits])
        top = (1 << (expr.rhs.type.bits - (1 if _signed(expr.rhs.type) else 0))) - 1
        limit = self.integer(amount.type, min(width, top))  # a negative amount is above it as an unsigned number
        small = self._cmpi(_UNSIGNED_PREDICATES["<" if width <= top else "<="], amount, limit)
        safe = b.value("arith.select", value.type, [small, fits, self.integer(value.type, width - 1)])
        shifted = b.value(_INT_OPS[expr.op][0 if signed else 1], value.type, [value, safe])
        if arithmetic:
            return shifted
        return b.value("arith.select", value.type, [small, shifted, self.integer(value.type, 0)])

    def _cmpi(self, predicate: int, lhs: ir.Value, rhs: ir.Value) -> ir.Value:
        return self.builder.value(
            "arith.cmpi", arith_type(Bool()), [lhs, rhs], {"predicate": _i64_attr(predicate)}
        )

    def _compare(self, op: str, scalar: AlloType, lhs: ir.Value, rhs: ir.Value) -> ir.Value:
        if isinstance(scalar, Fixed | UFixed):
            predicate = ir.IntegerAttr.get(ir.IntegerType.get_signless(32, context()), _SIGNED_PREDICATES[op])
            return self.builder.value(
                "allo.fixed_cmp", arith_type(Bool()), [lhs, rhs], {"predicate": predicate}
            )
        if isinstance(scalar, Float):
            attributes: dict[str, ir.Attribute] = {"predicate": _i64_attr(_FLOAT_PREDICATES[op])}
            return self.builder.value("arith.cmpf", arith_type(Bool()), [lhs, rhs], attributes)
        return self._cmpi((_SIGNED_PREDICATES if _signed(scalar) else _UNSIGNED_PREDICATES)[op], lhs, rhs)

    # -- conversion ------------------------------------------------------------------------------

    def cast(self, value: ir.Value, source: AlloType, target: AlloType) -> ir.Value:
        """`value` of type `source` as `target`."""
        if source == target:
            return value
        if isinstance(target, Bool):
            return self._compare("!=", source, value, self._constant(source, 0))
        if isinstance(source, Fixed | UFixed) or isinstance(target, Fixed | UFixed):
            stored = self.to_storage(value, source)
            result = self.builder.value("allo.fixed_cast", storage_type(target), [stored])
            return self.from_storage(result, target)
        if isinstance(source, Float):
            return self._from_float(value, source, target)
        if isinstance(target, Float):
            return self._to_float(value, source, target)
        return self._int_to_int(value, source, target)

    def _to_float(self, value: ir.Value, source: AlloType, target: Float) -> ir.Value:
        """An integer as the nearest float; through float64 where LLVM rounds otherwise or misses an infinity."""
        if isinstance(source, Index):
            value = self.builder.value("arith.index_cast", arith_type(Int(64)), [value])
        limit = 64 if not target.brain else 24
        wide = target.width < 64 and source.bits > limit
        name = "arith.sitofp" if _signed(source) else "arith.uitofp"
        result = self.builder.value(name, arith_type(float64 if wide else target), [value])
        if not wide:
            return result
        nearest = {"roundingmode": ir.IntegerAttr.get(ir.IntegerType.get_signless(32, context()), 0)}
        return self.builder.value("arith.truncf", arith_type(target), [result], nearest)  # MLIR joins casts without it

    def _int_to_int(self, value: ir.Value, source: AlloType, target: AlloType) -> ir.Value:
        result = arith_type(target)
        if isinstance(source, Index) or isinstance(target, Index):
            name = "arith.index_cast" if _signed(source) else "arith.index_castui"
            return self.builder.value(name, result, [value])
        if source.bits == target.bits:
            return value
        if source.bits > target.bits:
            return self.builder.value("arith.trunci", result, [value])
        return self.builder.value("arith.extsi" if _signed(source) else "arith.extui", result, [value])

    def _from_float(self, value: ir.Value, source: Float, target: AlloType) -> ir.Value:
        b = self.builder
        if isinstance(target, Float):
            if source.width == target.width:  # float16 and bfloat16
                value = b.value("arith.extf", arith_type(float32), [value])
                return b.value("arith.truncf", arith_type(target), [value])
            name = "arith.extf" if source.width < target.width else "arith.truncf"
            return b.value(name, arith_type(target), [value])
        whole = Int(64) if isinstance(target, Index) else target
        name = "arith.fptosi" if _signed(whole) else "arith.fptoui"
        return self._int_to_int(b.value(name, arith_type(whole), [value]), whole, target)
