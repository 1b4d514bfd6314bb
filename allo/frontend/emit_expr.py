"""Emits expressions as operations of the `arith`, `math`, `affine` and `memref` dialects."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cache
from typing import Any

from mlir import ir

from ..errors import InternalError
from ..ir.builder import Builder, index_type, string_attr
from ..ir.context import context
from ..ir.mlir_types import arith_type, storage_type
from ..ir.types import AlloType, Bool, Fixed, Float, Index, Int, UFixed, UInt, float32
from .affine_form import AffineForm, AffineLoop, Resolver
from .nodes import (
    Binary,
    BitOp,
    Cast,
    Compare,
    Const,
    Expr,
    KernelCall,
    Load,
    Logic,
    MathCall,
    Not,
    Select,
    Symbol,
    Var,
)
from .source import Position

_FLOAT_OPS = {"+": "arith.addf", "-": "arith.subf", "*": "arith.mulf", "/": "arith.divf"}
_INT_OPS = {
    "+": ("arith.addi", "arith.addi"),
    "-": ("arith.subi", "arith.subi"),
    "*": ("arith.muli", "arith.muli"),
    "/": ("arith.divsi", "arith.divui"),
    "//": ("arith.floordivsi", "arith.divui"),
    "%": ("arith.remsi", "arith.remui"),
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


@cache
def _fixed_cast() -> dict[str, ir.Attribute]:
    return {"rounding": string_attr("trunc"), "overflow": string_attr("wrap")}


def _signed(scalar: AlloType) -> bool:
    return isinstance(scalar, Int | Index)


def _cheap(expr: Expr) -> bool:
    """Whether `expr` may be evaluated although it is not needed: no access, no call, no division."""
    match expr:
        case Const() | Var():
            return True
        case Binary(op=op, lhs=lhs, rhs=rhs):
            return op not in ("/", "//", "%") and _cheap(lhs) and _cheap(rhs)
        case Compare(lhs=lhs, rhs=rhs) | Logic(lhs=lhs, rhs=rhs):
            return _cheap(lhs) and _cheap(rhs)
        case Not(operand=operand) | Cast(operand=operand):
            return _cheap(operand)
        case Select(condition=condition, if_true=if_true, if_false=if_false):
            return _cheap(condition) and _cheap(if_true) and _cheap(if_false)
    return False


class ExpressionEmitter:
    """Emits the expressions of one function at the builder's insertion point."""

    def __init__(
        self,
        builder: Builder,
        file: str,
        call: Callable[[KernelCall], ir.Value],
        constant: Callable[[Symbol], ir.Value],
    ) -> None:
        self.builder = builder
        self.call = call
        self.constant = constant
        self.memrefs: dict[Symbol, ir.Value] = {}
        self.scalars: dict[Symbol, ir.Value] = {}  # arguments that are never assigned
        self.loops: dict[Symbol, AffineLoop | ir.Value] = {}  # a plain value for loops that are not affine
        self.symbols: dict[Symbol, ir.Value] = {}  # integer arguments as `index`, cast at the entry
        self.resolve: Resolver = self._resolve
        self._file = file
        self._locations: dict[Position, ir.Location] = {}

    def _resolve(self, symbol: Symbol) -> AffineLoop | ir.Value | None:
        loop = self.loops.get(symbol)
        return loop if isinstance(loop, AffineLoop) else self.symbols.get(symbol)

    def memref(self, symbol: Symbol) -> ir.Value:
        """The buffer of a variable or constant."""
        static = symbol.constant is not None or symbol.state is not None
        if static and symbol not in self.memrefs:
            self.memrefs[symbol] = self.constant(symbol)
        return self.memrefs[symbol]

    def place(self, at: Position) -> None:
        """Operations built from now on come from this place of the kernel."""
        location = self._locations.get(at)
        if location is None:
            location = ir.Location.file(self._file, at[0], at[1] + 1, context())
            self._locations[at] = location
        self.builder.loc = location

    def value(self, expr: Expr) -> ir.Value:
        """The value of `expr`, in the arithmetic type of `expr.type`."""
        match expr:
            case Const():
                self.place(expr.at)
                return self._constant(expr.type, expr.value)
            case Var():
                return self._variable(expr)
            case Load():
                return self._load(expr)
            case Binary():
                lhs, rhs = self.value(expr.lhs), self.value(expr.rhs)
                self.place(expr.at)
                if isinstance(expr.type, Fixed | UFixed):
                    return self._fixed(expr, lhs, rhs)
                return (
                    self._float(expr, lhs, rhs) if isinstance(expr.type, Float) else self._int(expr, lhs, rhs)
                )
            case Cast():
                value = self.value(expr.operand)
                self.place(expr.at)
                return self.cast(value, expr.operand.type, expr.type)
            case Compare():
                lhs, rhs = self.value(expr.lhs), self.value(expr.rhs)
                self.place(expr.at)
                return self._compare(expr.op, expr.lhs.type, lhs, rhs)
            case Logic():
                return self._logic(expr)
            case Not():
                operand = self.value(expr.operand)
                self.place(expr.at)
                return self.builder.value(
                    "arith.xori", operand.type, [operand, self.integer(operand.type, 1)]
                )
            case Select():
                return self._select(expr)
            case MathCall():
                operands = [self.value(operand) for operand in expr.operands]
                self.place(expr.at)
                return self.builder.value(expr.function, arith_type(expr.type), operands)
            case BitOp():
                return self._bits(expr)
            case KernelCall():
                return self.call(expr)
        raise InternalError(f"no emission for {type(expr).__name__}")

    def index(self, expr: Expr) -> ir.Value:
        """`expr` as an `index`."""
        form = AffineForm(self.resolve)
        affine = form.of(expr)
        if affine is not None:
            return self.apply(form, affine, expr.at)
        value = self.value(expr)
        self.place(expr.at)
        return self.cast(value, expr.type, Index())

    def apply(self, form: AffineForm, affine: ir.AffineExpr, at: Position) -> ir.Value:
        """The value of an affine expression, without an operation where one of the operands is it."""
        self.place(at)
        affine_map = form.map([affine])
        result = affine_map.results[0]
        if isinstance(result, ir.AffineDimExpr):
            return form.operands[result.position]
        if isinstance(result, ir.AffineConstantExpr):
            return self.integer(index_type(), result.value)
        attributes = {"map": ir.AffineMapAttr.get(affine_map)}
        return self.builder.value("affine.apply", index_type(), form.operands, attributes)

    def integer(self, type_: ir.Type, value: int) -> ir.Value:
        return self.builder.constant(type_, value)

    # -- variables and elements ------------------------------------------------------------------

    def _variable(self, expr: Var) -> ir.Value:
        symbol = expr.symbol
        self.place(expr.at)
        if symbol in self.loops:
            loop = self.loops[symbol]
            return self.index(expr) if isinstance(loop, AffineLoop) else loop
        if symbol in self.scalars:
            return self.scalars[symbol]
        form = AffineForm(self.resolve)
        return self.from_storage(self.builder.affine_load(self.memref(symbol), form.map([]), []), expr.type)

    def _load(self, expr: Load) -> ir.Value:
        memref = self.memref(expr.tensor)
        form = AffineForm(self.resolve)
        results = form.all_of(expr.indices)
        if results is not None:
            self.place(expr.at)
            loaded = self.builder.affine_load(memref, form.map(results), form.operands)
        else:
            indices = [self.index(i) for i in expr.indices]
            self.place(expr.at)
            loaded = self.builder.value("memref.load", storage_type(expr.type), [memref, *indices])
        return self.from_storage(loaded, expr.type)

    def store(self, value: ir.Value, scalar: AlloType, symbol: Symbol, indices: Sequence[Expr]) -> None:
        """`symbol[indices] = value`."""
        memref = self.memref(symbol)
        location = self.builder.loc
        form = AffineForm(self.resolve)
        results = form.all_of(indices)
        stored = self.to_storage(value, scalar)
        if results is not None:
            self.builder.affine_store(stored, memref, form.map(results), form.operands)
            return
        positions = [self.index(i) for i in indices]
        self.builder.loc = location
        self.builder.op("memref.store", (), [stored, memref, *positions])

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
        if expr.op in ("/", "//", "%") and not isinstance(expr.rhs, Const):
            rhs = self._safe_divisor(rhs, signed and expr.op == "%")
        result = self.builder.value(_INT_OPS[expr.op][0 if signed else 1], lhs.type, [lhs, rhs])
        if expr.op == "%" and signed:
            if isinstance(expr.rhs, Const) and expr.rhs.value > 0:
                return self._wrap_negative(result, rhs)
            return self._floor_remainder(expr.type, result, rhs, "arith.addi")
        return result

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
        limit = self.integer(amount.type, min(width, (1 << expr.rhs.type.bits) - 1))
        small = self._cmpi(6 if width < 1 << expr.rhs.type.bits else 7, amount, limit)
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
            return self.builder.value("allo.fixed_cmp", arith_type(Bool()), [lhs, rhs], {"predicate": predicate})
        if isinstance(scalar, Float):
            attributes: dict[str, ir.Attribute] = {"predicate": _i64_attr(_FLOAT_PREDICATES[op])}
            return self.builder.value("arith.cmpf", arith_type(Bool()), [lhs, rhs], attributes)
        return self._cmpi((_SIGNED_PREDICATES if _signed(scalar) else _UNSIGNED_PREDICATES)[op], lhs, rhs)

    def _bits(self, expr: BitOp) -> ir.Value:
        operands = [self.value(expr.operand), *(self.index(position) for position in expr.positions)]
        if expr.value is not None:
            operands.append(self.value(expr.value))
        self.place(expr.at)
        return self.builder.value(f"allo.{expr.op}", arith_type(expr.type), operands)

    # -- choice ----------------------------------------------------------------------------------

    def _logic(self, expr: Logic) -> ir.Value:
        lhs = self.value(expr.lhs)
        if _cheap(expr.rhs):
            rhs = self.value(expr.rhs)
            self.place(expr.at)
            return self.builder.value("arith.andi" if expr.op == "and" else "arith.ori", lhs.type, [lhs, rhs])
        decided = Const(expr.type, expr.at, expr.op == "or")
        branches = (expr.rhs, decided) if expr.op == "and" else (decided, expr.rhs)
        return self._branch(expr, lhs, *branches)

    def _select(self, expr: Select) -> ir.Value:
        condition = self.value(expr.condition)
        if not (_cheap(expr.if_true) and _cheap(expr.if_false)):
            return self._branch(expr, condition, expr.if_true, expr.if_false)
        values = [self.value(expr.if_true), self.value(expr.if_false)]
        self.place(expr.at)
        return self.builder.value("arith.select", values[0].type, [condition, *values])

    def _branch(self, expr: Expr, condition: ir.Value, if_true: Expr, if_false: Expr) -> ir.Value:
        """One of two values, only that one evaluated."""
        self.place(expr.at)
        op = self.builder.scf_if(condition, [arith_type(expr.type)], has_else=True)
        outer = self.builder.point
        for region, branch in zip(op.regions, (if_true, if_false), strict=True):
            self.builder.point = ir.InsertionPoint(region.blocks[0])
            value = self.value(branch)
            self.place(expr.at)
            self.builder.op("scf.yield", (), [value])
        self.builder.point = outer
        return op.results[0]

    # -- conversion ------------------------------------------------------------------------------

    def cast(self, value: ir.Value, source: AlloType, target: AlloType) -> ir.Value:
        """`value` of type `source` as `target`."""
        if source == target:
            return value
        if isinstance(target, Bool):
            return self._compare("!=", source, value, self._constant(source, 0))
        if isinstance(source, Fixed | UFixed) or isinstance(target, Fixed | UFixed):
            stored = self.to_storage(value, source)
            result = self.builder.value("allo.fixed_cast", storage_type(target), [stored], _fixed_cast())
            return self.from_storage(result, target)
        if isinstance(source, Float):
            return self._from_float(value, source, target)
        if isinstance(target, Float):
            if isinstance(source, Index):
                value = self.builder.value("arith.index_cast", arith_type(Int(64)), [value])
            name = "arith.sitofp" if _signed(source) else "arith.uitofp"
            return self.builder.value(name, arith_type(target), [value])
        return self._int_to_int(value, source, target)

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
        wide = (
            Int(64)
            if isinstance(target, Index)
            else Int(target.bits + (1 if isinstance(target, UInt) else 0))
        )
        integer = b.value("arith.fptosi", arith_type(wide), [value])
        return self._int_to_int(integer, wide, target)
