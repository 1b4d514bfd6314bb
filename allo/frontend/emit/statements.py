"""Emitter of functions and statements: their typed trees become operations of MLIR."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from mlir import ir

from ...errors import InternalError
from ...ir.builder import Builder, affine_constant, i32_attr, index_type, memory_attr, string_attr, unit_attr
from ...ir.context import context
from ...ir.mlir_types import memref_type
from ...ir.module import Module
from ...ir.names import unique_name
from ...ir.types import AlloType, Int, TensorType, UInt, index
from ..read.source import Position
from ..typing.convert import convert
from ..typing.nodes import (
    AssignScalar,
    Block,
    Call,
    CallSite,
    CheckedFunction,
    Const,
    Copy,
    Declare,
    Expr,
    Fill,
    For,
    If,
    KernelCall,
    Load,
    Return,
    Stmt,
    Store,
    StreamPut,
    Structured,
    Symbol,
    SymbolKind,
    TaskGrid,
    While,
)
from ..typing.view import Indices, loops_over, whole
from .affine_form import AffineLoop, AffineMapBuilder, operands_of
from .constants import ConstantPool
from .expressions import ExpressionEmitter
from .loops import dynamic_for
from .signature import argument_attributes, flat_type, parameter_type
from .streams import grid_of, made_stream
from .structured import emit_structured


class FunctionEmitter:
    """Emits one function."""

    def __init__(self, module: Module, function: CheckedFunction, constants: ConstantPool) -> None:
        self.function = function
        self.constants = constants
        self.builder = Builder(ir.InsertionPoint(module.mlir.body))
        self.values = ExpressionEmitter(self.builder, function.source.file, self._scalar_call, self._constant)
        self._buffer_names: set[str] = set()
        self._loop_names: set[str] = set()
        self._nest_names: set[str] = set()
        self._nest_depth = 0
        self._entry: ir.Block | None = None

    def emit(self) -> None:
        """Build the `func.func`."""
        function = self.function
        self.values.place(function.source.position(function.source.tree))
        inputs = [parameter_type(parameter) for parameter in function.params]
        results = [flat_type(r) for r in function.results]
        arg_attrs = [argument_attributes(parameter) for parameter in function.params]
        attributes: dict[str, ir.Attribute] = {
            "sym_name": string_attr(function.name),
            "function_type": ir.TypeAttr.get(ir.FunctionType.get(inputs, results, context()), context()),
        }
        if function.is_region:
            attributes["allo.dataflow"] = unit_attr()
        if arg_attrs:
            attributes["arg_attrs"] = ir.ArrayAttr.get(arg_attrs, context())
        op = self.builder.op("func.func", (), (), attributes, 1)
        locations = [self._location(p.at) for p in function.params]
        block = op.regions[0].blocks.append(*inputs, arg_locs=locations)
        self.builder.point = ir.InsertionPoint(block)
        self._entry = block
        for parameter, argument in zip(function.params, block.arguments, strict=True):
            self._parameter(parameter, argument)
        for statement in function.body:
            self.statement(statement)
        if not (function.body and isinstance(function.body[-1], Return)):
            self.builder.op("func.return")
        del self.values  # which refers to this one: neither waits for the collector of cycles

    def _location(self, at: Position) -> ir.Location:
        self.values.place(at)
        return self.builder.loc

    def _parameter(self, symbol: Symbol, argument: ir.Value) -> None:
        self._buffer_names.add(symbol.name)
        if symbol.kind in (SymbolKind.TENSOR, SymbolKind.STREAM):
            self.values.memrefs[symbol] = argument
            self._extents(symbol, argument)
            return
        assert isinstance(symbol.type, AlloType)
        self.values.place(symbol.at)
        if symbol.assigned:
            self._allocate(symbol)
            self.values.store(self.values.from_storage(argument, symbol.type), symbol.type, symbol, ())
            return
        value = self.values.from_storage(argument, symbol.type)
        self.values.scalars[symbol] = value
        if isinstance(symbol.type, Int | UInt) and symbol.type.width > 1:
            self.values.symbols[symbol] = self.values.cast(value, symbol.type, index)
        elif symbol.type == index:
            self.values.symbols[symbol] = value

    def _extents(self, symbol: Symbol, argument: ir.Value) -> None:
        """The extents of an argument that are known at run time only."""
        for dimension, extent in enumerate(symbol.extents):
            if extent is not None:
                self.values.place(symbol.at)
                position = self.values.integer(index_type(), dimension)
                value = self.builder.value("memref.dim", index_type(), [argument, position])
                self.values.scalars[extent] = self.values.symbols[extent] = value

    def _constant(self, symbol: Symbol) -> ir.Value:
        """The address of a constant array, taken at the entry of the function."""
        name = unique_name(symbol.name.replace(".", "_"), self._buffer_names)
        assert self._entry is not None
        here = self.builder.loc
        at, self.builder.loc = self._location(symbol.at), here
        return self.constants.address(symbol, f"{self.function.name}_{name}", name, self._entry, at)

    def _allocate(self, symbol: Symbol) -> ir.Value:
        """The buffer of a variable: rank 0 for a scalar."""
        shaped = symbol.type if isinstance(symbol.type, TensorType) else TensorType(symbol.type, ())  # type: ignore[arg-type]
        memref = self.builder.alloc(memref_type(shaped), unique_name(symbol.name, self._buffer_names))
        if symbol.memory is not None:
            memref.owner.attributes["allo.memory"] = memory_attr(symbol.memory)
        self.values.memrefs[symbol] = memref
        return memref

    # -- statements ------------------------------------------------------------------------------

    def statement(self, statement: Stmt) -> None:
        """Emit one statement at the insertion point."""
        self.values.place(statement.at)
        self.values.shared.clear()
        match statement:
            case Declare():
                self._declare(statement)
            case AssignScalar(symbol=symbol, value=expr):
                self._store(statement.at, symbol, (), expr)
            case Store(tensor=tensor, indices=indices, value=expr):
                self._store(statement.at, tensor, indices, expr)
            case Fill(tensor=tensor, value=expr):
                self._fill(tensor, expr, "fill", statement.at)
            case Copy(tensor=tensor, source=source):
                self._copy(tensor, source, statement.at)
            case For():
                self._for(statement)
            case While():
                self._while(statement)
            case If():
                self._if(statement)
            case Call():
                self._call(statement)
            case Return():
                self._return(statement)
            case Structured():
                emit_structured(self.values, statement, self._nest_names)
            case StreamPut(stream=stream, indices=indices, value=expr):
                self.values.put(stream, indices, expr)
            case TaskGrid():
                self._grid(statement)
            case Block(body=body):
                for part in body:
                    self.statement(part)
            case _:
                raise InternalError(f"no emission for {type(statement).__name__}")

    def _block(self, block: ir.Block, statements: Sequence[Stmt]) -> None:
        """Emit `statements` in front of the terminator of `block`."""
        outer = self.builder.point
        self.builder.point = ir.InsertionPoint.at_block_terminator(block)
        for statement in statements:
            self.statement(statement)
        self.builder.point = outer

    def _store(self, at: Position, symbol: Symbol, indices: Sequence[Expr], expr: Expr) -> None:
        value = self.values.value(expr)
        self.values.place(at)
        self.values.store(value, expr.type, symbol, indices)

    def _declare(self, statement: Declare) -> None:
        symbol, init = statement.symbol, statement.init
        if symbol.stream is not None:
            name = unique_name(symbol.name, self._buffer_names)
            self.values.memrefs[symbol] = made_stream(self.builder, symbol.stream, name)
        elif symbol.kind is SymbolKind.ARGUMENT:  # a constant of the position
            assert isinstance(init, Expr)
            self.values.scalars[symbol] = self.values.symbols[symbol] = self.values.index(init)
        elif isinstance(init, Symbol):
            self._allocate(symbol)
            self._copy(symbol, init, statement.at, "init")
        elif init is not None and isinstance(symbol.type, TensorType):
            self._allocate(symbol)
            self._fill(symbol, init, "init", statement.at)
        elif init is not None:
            value = self.values.value(init)
            self.values.place(statement.at)
            self._allocate(symbol)
            self.values.store(value, init.type, symbol, ())
        else:
            self._allocate(symbol)

    def _over_elements(self, tensor: Symbol, what: str, at: Position, body: Callable[[Indices], Stmt]) -> None:
        """Loops over all elements of `tensor`."""
        name = f"{tensor.name}_{what}"
        extents = whole(tensor, at).extents
        self.statement(loops_over(extents, name, name if self._nest_depth == 0 else None, at, body))

    def _fill(self, tensor: Symbol, value: Expr, what: str, at: Position) -> None:
        self._over_elements(tensor, what, at, lambda indices: Store(at, tensor, indices, value))

    def _copy(self, tensor: Symbol, source: Symbol, at: Position, what: str = "copy") -> None:
        assert isinstance(tensor.type, TensorType) and isinstance(source.type, TensorType)
        given, element = source.type.element, tensor.type.element

        def moved(indices: Indices) -> Stmt:
            return Store(at, tensor, indices, convert(Load(given, at, source, indices), element))

        self._over_elements(tensor, what, at, moved)

    # -- loops and branches ----------------------------------------------------------------------

    def _for(self, loop: For) -> None:
        if self._nest_depth == 0:
            self._loop_names = set()
        attributes: dict[str, ir.Attribute] = {
            "allo.name": string_attr(unique_name(loop.symbol.name, self._loop_names))
        }
        if loop.nest is not None:
            attributes["allo.nest"] = string_attr(unique_name(loop.nest, self._nest_names))
        attributes |= {name: i32_attr(value) for name, value in loop.marks}
        self._nest_depth += 1
        if not (isinstance(loop.step, Const) and self._affine_for(loop, int(loop.step.value), attributes)):
            block, variable = dynamic_for(self.builder, self.values, loop, attributes)
            self.values.loops[loop.symbol] = variable
            self._block(block, loop.body)
        self._nest_depth -= 1

    def _affine_for(self, loop: For, step: int, attributes: dict[str, ir.Attribute]) -> bool:
        """Emit `loop` as `affine.for`; False if its bounds are not affine."""
        lower, upper = AffineMapBuilder(self.values.resolve), AffineMapBuilder(self.values.resolve)
        lows = lower.all_of(operands_of(loop.lower, "max"))
        highs = upper.all_of(operands_of(loop.upper, "min"))
        if lows is None or highs is None or (step < 0 and len(lows) + len(highs) > 2):
            return False
        if step < 0:  # count upwards from 0: variable = lower + step * count
            form = AffineMapBuilder(self.values.resolve)
            start, stop = form.of(loop.lower), form.of(loop.upper)
            assert start is not None and stop is not None
            trips = ir.AffineExpr.get_floor_div(start - stop + (-step - 1), affine_constant(-step))
            lower, lows = AffineMapBuilder(self.values.resolve), [affine_constant(0)]
            upper, highs = form, [trips]
        op = self.builder.affine_for(
            (lower.map(lows), lower.operands), (upper.map(highs), upper.operands), max(step, 1), attributes
        )
        variable = op.regions[0].blocks[0].arguments[0]
        self.values.loops[loop.symbol] = (
            AffineLoop(variable) if step > 0 else AffineLoop(variable, loop.lower, step)
        )
        self._block(op.regions[0].blocks[0], loop.body)
        return True

    def _grid(self, statement: TaskGrid) -> None:
        """A task at each position of its grid: loops whose iterations are elements, around a call."""
        nest = unique_name(statement.name, self._nest_names)
        calls = grid_of(self.builder, statement, nest, self.values.loops)
        outer, self.builder.point = self.builder.point, calls
        self._emit_call(statement.call, statement.at)
        self.builder.point = outer

    def _while(self, loop: While) -> None:
        attributes: dict[str, ir.Attribute] = {}
        if self._nest_depth == 0:
            self._loop_names = set()
            if (nest := unique_name("while", self._nest_names)) != "while":
                attributes["allo.nest"] = string_attr(nest)
        attributes["allo.name"] = string_attr(unique_name("while", self._loop_names))
        op = self.builder.op("scf.while", (), (), attributes, 2)
        before, after = (region.blocks.append(arg_locs=[]) for region in op.regions)
        outer, self.builder.point = self.builder.point, ir.InsertionPoint(before)
        self._nest_depth += 1
        for statement in loop.first:
            self.statement(statement)
        condition = self.values.value(loop.condition)
        self.values.place(loop.at)
        self.builder.op("scf.condition", (), [condition])
        self.builder.point = ir.InsertionPoint(after)
        for statement in loop.body:
            self.statement(statement)
        self.values.place(loop.at)
        self.builder.op("scf.yield")
        self._nest_depth -= 1
        self.builder.point = outer

    def _if(self, statement: If) -> None:
        form = AffineMapBuilder(self.values.resolve)
        constraints = form.condition(statement.condition)
        has_else = bool(statement.orelse)
        if constraints is not None and form.operands:
            exprs, equalities = [e for e, _ in constraints], [eq for _, eq in constraints]
            condition = ir.IntegerSet.get(len(form.operands), 0, exprs, equalities, context())
            op = self.builder.affine_if(condition, form.operands, has_else)
        else:
            value = self.values.value(statement.condition)
            self.values.place(statement.at)
            op = self.builder.scf_if(value, (), has_else)
        self._block(op.regions[0].blocks[0], statement.body)
        if has_else:
            self._block(op.regions[1].blocks[0], statement.orelse)

    # -- calls and results -----------------------------------------------------------------------

    def _emit_call(self, call: CallSite, at: Position) -> ir.Operation:
        operands = []
        for argument, parameter in zip(call.arguments, call.callee.params, strict=True):
            if isinstance(argument, Symbol):
                operands.append(self.values.memref_as(argument, parameter_type(parameter)))
            else:
                operands.append(self.values.to_storage(self.values.value(argument), argument.type))
        self.values.place(at)
        results = [flat_type(r) for r in call.callee.results]
        callee = ir.FlatSymbolRefAttr.get(call.callee.name, context())
        return self.builder.op("func.call", results, operands, {"callee": callee})

    def _scalar_call(self, expr: KernelCall) -> ir.Value:
        result = self._emit_call(expr.call, expr.at).results[0]
        return self.values.from_storage(result, expr.type)

    def _call(self, statement: Call) -> None:
        op = self._emit_call(statement.call, statement.at)
        wanted = op.results if statement.targets else ()
        for target, declared, result in zip(statement.targets, statement.declares, wanted, strict=True):
            if isinstance(target.type, TensorType) and declared:
                self.values.memrefs[target] = result
                if len(wanted) == 1:  # an operation has one name
                    op.attributes["allo.name"] = string_attr(unique_name(target.name, self._buffer_names))
            elif isinstance(target.type, TensorType):
                received = Symbol(target.name, SymbolKind.TENSOR, target.type, statement.at)
                self.values.memrefs[received] = result
                self._copy(target, received, statement.at)
            else:
                assert target.type is not None
                if declared:
                    self._allocate(target)
                self.values.store(self.values.from_storage(result, target.type), target.type, target, ())

    def _return(self, statement: Return) -> None:
        operands: list[ir.Value] = []
        for value in statement.values:
            if isinstance(value, Symbol):
                memref = self.values.memref(value)
                if isinstance(memref.owner, ir.Block) or value.constant is not None or memref in operands:
                    fresh = Symbol(f"{value.name}_result", SymbolKind.TENSOR, value.type, statement.at)
                    self._allocate(fresh)
                    self._copy(fresh, value, statement.at)
                    memref = self.values.memrefs[fresh]
                operands.append(memref)
            else:
                operands.append(self.values.to_storage(self.values.value(value), value.type))
        self.values.place(statement.at)
        self.builder.op("func.return", (), operands)
