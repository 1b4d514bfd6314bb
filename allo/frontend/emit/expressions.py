"""Emitter of expressions, as operations of the `arith`, `math`, `affine` and `memref` dialects."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from mlir import ir

from ...errors import InternalError
from ...ir.builder import Builder, index_type
from ...ir.context import context
from ...ir.mlir_types import arith_type
from ...ir.types import AlloType, Fixed, Float, Index, UFixed
from ..read.source import Position
from ..typing.nodes import (
    Binary,
    BitOp,
    Cast,
    Compare,
    Const,
    Construct,
    Expr,
    Field,
    KernelCall,
    Load,
    Logic,
    MathCall,
    Not,
    Select,
    SetField,
    Shared,
    StreamAsked,
    StreamGet,
    StreamTryGet,
    StreamTryPut,
    Symbol,
    Var,
)
from .affine_form import AffineLoop, AffineMapBuilder
from .arithmetic import ArithmeticEmitter
from .structs import struct_value


def _cheap(expr: Expr) -> bool:
    """Whether `expr` may be evaluated although it is not needed: no access, no call, no division."""
    match expr:
        case Const() | Var():
            return True
        case Binary(op=op, lhs=lhs, rhs=rhs):
            return op not in ("/", "//", "%", "rem") and _cheap(lhs) and _cheap(rhs)
        case Compare(lhs=lhs, rhs=rhs) | Logic(lhs=lhs, rhs=rhs):
            return _cheap(lhs) and _cheap(rhs)
        case Not(operand=operand) | Cast(operand=operand) | Field(operand=operand):
            return _cheap(operand)
        case Select(condition=condition, if_true=if_true, if_false=if_false):
            return _cheap(condition) and _cheap(if_true) and _cheap(if_false)
    return False


class ExpressionEmitter(ArithmeticEmitter):
    """Emits the expressions of one function at the builder's insertion point."""

    def __init__(
        self,
        builder: Builder,
        file: str,
        call: Callable[[KernelCall], ir.Value],
        constant: Callable[[Symbol], ir.Value],
    ) -> None:
        super().__init__(builder)
        self.call = call
        self.constant = constant
        self.memrefs: dict[Symbol, ir.Value] = {}
        self.scalars: dict[Symbol, ir.Value] = {}  # arguments that are never assigned
        self.loops: dict[Symbol, AffineLoop | ir.Value] = {}  # a plain value for loops that are not affine
        self.symbols: dict[Symbol, ir.Value] = {}  # integer arguments as `index`, cast at the entry
        self.shared: dict[int, ir.Value] = {}  # of the statement that is emitted, by identity
        self._file = file
        self._locations: dict[Position, ir.Location] = {}

    def resolve(self, symbol: Symbol) -> AffineLoop | ir.Value | None:
        """What the function knows of a symbol, for affine maps."""
        loop = self.loops.get(symbol)
        return loop if isinstance(loop, AffineLoop) else self.symbols.get(symbol)

    def memref(self, symbol: Symbol) -> ir.Value:
        """The buffer of a variable or constant."""
        static = symbol.constant is not None or symbol.state is not None
        if static and symbol not in self.memrefs:
            self.memrefs[symbol] = self.constant(symbol)
        return self.memrefs[symbol]

    def memref_as(self, symbol: Symbol, wanted: ir.Type) -> ir.Value:
        """The buffer of a variable for a parameter of type `wanted`, which may leave extents to run time."""
        memref = self.memref(symbol)
        return memref if memref.type == wanted else self.builder.value("memref.cast", wanted, [memref])

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
            case StreamGet() | StreamTryGet() | StreamTryPut() | StreamAsked():
                return self._of_stream(expr)
            case KernelCall():
                return self.call(expr)
            case Field() | Construct() | SetField():
                return struct_value(self, expr)
            case Shared(operand=inner):
                if id(expr) not in self.shared:
                    self.shared[id(expr)] = self.value(inner)
                return self.shared[id(expr)]
        raise InternalError(f"no emission for {type(expr).__name__}")

    def index(self, expr: Expr) -> ir.Value:
        """`expr` as an `index`."""
        form = AffineMapBuilder(self.resolve)
        affine = form.of(expr)
        if affine is not None:
            return self.apply(form, affine, expr.at)
        value = self.value(expr)
        self.place(expr.at)
        return self.cast(value, expr.type, Index())

    def apply(self, form: AffineMapBuilder, affine: ir.AffineExpr, at: Position) -> ir.Value:
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

    # -- variables and elements ------------------------------------------------------------------

    def _variable(self, expr: Var) -> ir.Value:
        symbol = expr.symbol
        self.place(expr.at)
        if symbol in self.loops:
            loop = self.loops[symbol]
            return self.index(expr) if isinstance(loop, AffineLoop) else loop
        if symbol in self.scalars:
            return self.scalars[symbol]
        form = AffineMapBuilder(self.resolve)
        return self.from_storage(self.builder.affine_load(self.memref(symbol), form.map([]), []), expr.type)

    def _load(self, expr: Load) -> ir.Value:
        memref = self.memref(expr.tensor)
        form = AffineMapBuilder(self.resolve)
        results = form.all_of(expr.indices)
        if results is not None:
            self.place(expr.at)
            loaded = self.builder.affine_load(memref, form.map(results), form.operands)
        else:
            indices = [self.index(i) for i in expr.indices]
            self.place(expr.at)
            loaded = self.builder.load(memref, indices)
        return self.from_storage(loaded, expr.type)

    def store(self, value: ir.Value, scalar: AlloType, symbol: Symbol, indices: Sequence[Expr]) -> None:
        """`symbol[indices] = value`."""
        memref = self.memref(symbol)
        location = self.builder.loc
        form = AffineMapBuilder(self.resolve)
        results = form.all_of(indices)
        stored = self.to_storage(value, scalar)
        if results is not None:
            self.builder.affine_store(stored, memref, form.map(results), form.operands)
            return
        positions = [self.index(i) for i in indices]
        self.builder.loc = location
        self.builder.store(stored, memref, positions)

    def stream(self, symbol: Symbol, indices: Sequence[Expr], at: Position) -> ir.Value:
        """A FIFO, or that one of an array of them."""
        memref = self.memref(symbol)
        if not indices:
            self.place(at)
            return memref
        form = AffineMapBuilder(self.resolve)
        results = form.all_of(indices)
        if results is not None:
            self.place(at)
            return self.builder.affine_load(memref, form.map(results), form.operands)
        positions = [self.index(index) for index in indices]
        self.place(at)
        return self.builder.load(memref, positions)

    def put(self, symbol: Symbol, indices: Sequence[Expr], expr: Expr) -> None:
        """`symbol[indices].put(expr)`."""
        location = self.builder.loc
        value = self.to_storage(self.value(expr), expr.type)
        self.builder.loc = location
        at = self.stream(symbol, indices, expr.at)
        self.builder.loc = location
        self.builder.put(at, value)

    def _of_stream(self, expr: StreamGet | StreamTryGet | StreamTryPut | StreamAsked) -> ir.Value:
        if isinstance(expr, StreamTryPut):
            stored = self.to_storage(self.value(expr.value), expr.value.type)
            return self.builder.try_put(self.stream(expr.stream, expr.indices, expr.at), stored)
        stream = self.stream(expr.stream, expr.indices, expr.at)
        match expr:
            case StreamGet(stays=stays):
                return self.from_storage(self.builder.peek(stream) if stays else self.builder.get(stream), expr.type)
            case StreamTryGet(into=into):
                got, done = self.builder.try_get(stream)
                assert isinstance(into.type, AlloType)
                self.store(self.from_storage(got, into.type), into.type, into, ())
                return done
        return self.builder.asks(expr.question, stream)

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
        outer, known = self.builder.point, self.shared
        for region, branch in zip(op.regions, (if_true, if_false), strict=True):
            self.builder.point = ir.InsertionPoint(region.blocks[0])
            self.shared = dict(known)  # what one branch computes, the other and what follows cannot see
            value = self.value(branch)
            self.place(expr.at)
            self.builder.op("scf.yield", (), [value])
        self.builder.point, self.shared = outer, known
        return op.results[0]
