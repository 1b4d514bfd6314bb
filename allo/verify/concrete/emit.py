"""Code of a function that runs on expressions: loops and subscripts as numbers, data as nodes."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from mlir import ir

from ...ir.access import callee_name
from ...ir.walk import entry_block, string_of
from .bytecode import Assembler, BinaryCode, Code
from .constants import constant_bits, global_values
from .control import ControlFlow
from .engine import ExpressionGraph, Ids
from .lowered import Lowered, Unsupported
from .operators import INDEX, ScalarType, extension, operator_of, scalar_type, select_of, unwritten_of
from .ranges import is_inside
from .subscripts import Registers, Sum

_ENDS = ("allo_stream_delete", "allo_stream_drop", "allo_streams_delete", "allo_streams_drop")
_AT_STREAMS = {"allo_stream_put": Code.PUT, "allo_stream_get": Code.GET, "allo_stream_peek": Code.PEEK}


@dataclass(frozen=True, slots=True)
class Storage:
    """Where an argument, a result or a variable lies: in an array, or in a register."""

    array: int | None
    register: int
    type: ScalarType
    shape: tuple[int, ...]


@dataclass(slots=True)
class Executable:
    """A function as code for a `Run`; `origins` are operations of `lowered`."""

    lowered: Lowered
    code: list[int] = field(default_factory=list)
    registers: list[int] = field(default_factory=list)
    arrays: list[tuple[int, int, int]] = field(default_factory=list)  # elements, operators: select, unwritten_of
    names: list[str] = field(default_factory=list)  # of the arrays
    contents: dict[int, Ids] = field(default_factory=dict)  # of constant arrays
    arguments: list[Storage] = field(default_factory=list)
    results: list[Storage] = field(default_factory=list)
    origins: dict[int, ir.Operation] = field(default_factory=dict)
    streams: dict[int, str] = field(default_factory=dict)  # the instruction that makes streams -> their name


def emit(graph: ExpressionGraph, lowered: Lowered) -> Executable:
    """The code of a function; raises Unsupported for what has no meaning on expressions."""
    return _Emitter(graph, lowered).run()


class _Emitter(ControlFlow):
    def __init__(self, graph: ExpressionGraph, lowered: Lowered) -> None:
        super().__init__(Registers(graph, Assembler()))
        self.graph = graph
        self.lowered = lowered
        self.made = Executable(lowered)
        self.arrays: dict[ir.Value, int] = {}
        self.addresses: dict[ir.Value, ir.Value] = {}  # an integer that is the address of an array
        self.globals: dict[str, int] = {}
        self.special: dict[str, Callable[[ir.Operation], None]] = {
            "arith.constant": self._constant,
            "arith.index_cast": self._index_cast,
            "arith.index_castui": self._index_cast,
            "affine.apply": self._apply,
            "affine.load": self._affine_access,
            "affine.store": self._affine_access,
            "memref.load": self._access,
            "memref.store": self._access,
            "memref.alloc": self._allocate,
            "memref.alloca": self._allocate,
            "memref.get_global": self._get_global,
            "memref.copy": self._copy,
            "memref.dim": self._extent,
            "memref.dealloc": lambda op: None,
            "memref.extract_aligned_pointer_as_index": self._address,
            "func.call": self._call,
            "func.return": self._return,
        }

    def run(self) -> Executable:
        function = self.lowered.function
        entry = entry_block(function)
        assert entry is not None
        for position, argument in enumerate(entry.arguments):
            self._argument(argument, self.lowered.argument_names[position])
        self.block(entry)
        self.made.code = self.code.finish()
        self.made.registers = self.code.registers
        self.made.origins = self.code.origins
        return self.made

    def operation(self, op: ir.Operation) -> None:
        handler = self.special.get(op.name) or self.control.get(op.name)
        if handler is not None:
            handler(op)
        elif not op.name.startswith(("arith.", "math.")) or len(op.regions):
            raise Unsupported(f"`{op.name}` has no meaning on expressions", op)
        elif not self._on_numbers(op):
            self._on_nodes(op)

    # -- scalars -----------------------------------------------------------------------------------

    def _on_numbers(self, op: ir.Operation) -> bool:
        """Compute with numbers if the operands and the result are some."""
        kind = _ON_NUMBERS.get(op.name)
        if kind is None or not self.values.are_numbers(op.operands):
            return False
        if not isinstance(op.results[0].type, ir.IndexType):
            return False
        left, right = (self.values.numbers[value] for value in op.operands)
        made = self.code.register()
        self.code.emit(Code.BINARY, made, kind, left, right)
        self.values.numbers[op.results[0]] = made
        return True

    def _on_nodes(self, op: ir.Operation) -> None:
        for number, result in enumerate(op.results):
            found = operator_of(op, number)
            if found is None:
                raise Unsupported(f"`{op.name}` has no meaning on expressions", op)
            operator, swapped = found
            operands = [self.values.node(value) for value in op.operands]
            if swapped:
                operands.reverse()
            made = self.code.register()
            code = (Code.NODE1, Code.NODE2, Code.NODE3)[len(operands) - 1]
            self.code.emit(code, made, self.graph.operator(operator), *operands)
            self.values.nodes[result] = made

    def _constant(self, op: ir.Operation) -> None:
        result = op.results[0]
        scalar = scalar_type(result.type)
        if scalar is None:
            raise Unsupported("a constant that is not a scalar has no meaning on expressions", op)
        bits = constant_bits(op.attributes["value"], scalar)
        if isinstance(result.type, ir.IndexType):
            self.values.numbers[result] = self.code.constant(bits - (1 << 64) if bits >> 63 else bits)
        else:
            self.values.nodes[result] = self.values.constant(scalar, bits)

    def _index_cast(self, op: ir.Operation) -> None:
        source, result = op.operands[0], op.results[0]
        if source in self.addresses:
            self.addresses[result] = self.addresses[source]
            return
        given, wanted = scalar_type(source.type), scalar_type(result.type)
        if given is None or wanted is None:
            raise Unsupported("a cast of something that is not a scalar has no meaning on expressions", op)
        signed = op.name == "arith.index_cast"
        if source in self.values.numbers and (signed or wanted.width <= given.width):
            made = self.code.register()
            self.code.emit(Code.TO_NODE, made, self.values.numbers[source], wanted.width)
        elif given.width == wanted.width:
            made = self.values.node(source)
        else:
            made = self.code.register()
            number = self.graph.operator(extension(given, wanted, signed))
            self.code.emit(Code.NODE1, made, number, self.values.node(source))
        self.values.nodes[result] = made

    def _apply(self, op: ir.Operation) -> None:
        affine_map = ir.AffineMapAttr(op.attributes["map"]).value
        (result,) = self.values.map_results(affine_map, list(op.operands))
        if isinstance(result, int):
            self.values.nodes[op.results[0]] = result
        else:
            self.values.numbers[op.results[0]] = self.values.register(result)

    # -- memory ------------------------------------------------------------------------------------

    def _array(self, kind: ir.Type, name: str, op: ir.Operation | None) -> int:
        memref = ir.MemRefType(kind)
        element = scalar_type(memref.element_type)
        if element is None:
            raise Unsupported(f"an array of {memref.element_type} has no meaning on expressions", op)
        if not memref.has_static_shape:
            raise Unsupported(f"the extents of '{name}' are known at run time only", op)
        unwritten = unwritten_of(f"{name} {self.made.names.count(name)}", element)
        operators = (self.graph.operator(select_of(element)), self.graph.operator(unwritten))
        self.made.arrays.append((math.prod(memref.shape), *operators))
        self.made.names.append(name)
        return len(self.made.arrays) - 1

    def _place(self, value: ir.Value) -> Storage:
        if isinstance(value.type, ir.MemRefType):
            memref = ir.MemRefType(value.type)
            element = scalar_type(memref.element_type)
            assert element is not None
            return Storage(self.arrays[value], 0, element, tuple(memref.shape))
        scalar = scalar_type(value.type)
        assert scalar is not None
        return Storage(None, self.values.node(value), scalar, ())

    def _argument(self, argument: ir.Value, name: str) -> None:
        if isinstance(argument.type, ir.MemRefType):
            self.arrays[argument] = self._array(argument.type, name, None)
        elif scalar_type(argument.type) is not None:
            self.values.nodes[argument] = self.code.register()
        else:
            raise Unsupported(f"the argument '{name}' is of the type {argument.type}", None)
        self.made.arguments.append(self._place(argument))

    def _allocate(self, op: ir.Operation) -> None:
        name = string_of(op, "allo.name") or "a local array"
        array = self._array(op.results[0].type, name, op)
        self.arrays[op.results[0]] = array
        self.code.emit(Code.ALLOCATE, array)

    def _get_global(self, op: ir.Operation) -> None:
        symbol = ir.FlatSymbolRefAttr(op.attributes["name"]).value
        if symbol not in self.globals:
            name = string_of(op, "allo.name") or symbol
            array = self._array(op.results[0].type, name, op)
            memref = ir.MemRefType(op.results[0].type)
            element = scalar_type(memref.element_type)
            assert element is not None
            values = global_values(self.graph, self.lowered.globals[symbol], element, math.prod(memref.shape))
            if values is None:
                raise Unsupported(f"the values of '{name}' are not in the module", op)
            self.made.contents[array] = values
            self.globals[symbol] = array
        self.arrays[op.results[0]] = self.globals[symbol]

    def _affine_access(self, op: ir.Operation) -> None:
        offset = 1 if op.name == "affine.load" else 2
        affine_map = ir.AffineMapAttr(op.attributes["map"]).value
        operands = list(op.operands)[offset:]
        registers = [self.values.number(value, op) for value in operands]
        results = [self.values.sum(expr, registers, affine_map.n_dims) for expr in affine_map.results]
        self._emit_access(op, offset - 1, results)

    def _access(self, op: ir.Operation) -> None:
        offset = 1 if op.name == "memref.load" else 2
        results: list[Sum | int] = []
        shape = ir.MemRefType(op.operands[offset - 1].type).shape
        for value, extent in zip(list(op.operands)[offset:], shape, strict=True):
            if value not in self.values.numbers and is_inside(value, extent):
                results.append(self.values.nodes[value])
            else:  # no program may be equal to one that leaves its arrays
                results.append(Sum(0, ((self.values.number(value, op), 1),)))
        self._emit_access(op, offset - 1, results)

    def _emit_access(self, op: ir.Operation, position: int, results: Sequence[Sum | int]) -> None:
        """A load (`position` 0 is that of the array) or a store (the array comes behind the value)."""
        memref = op.operands[position]
        shape = ir.MemRefType(memref.type).shape
        if position == 0:
            register = self.values.nodes[op.results[0]] = self.code.register()
        else:
            register = self.values.node(op.operands[0])
        flat = self.values.flat(results, shape)
        if flat is not None:
            inside = Code.STORE_INSIDE if position else Code.LOAD_INSIDE
            self.code.emit(inside, register, self.arrays[memref], *flat.words, origin=op)
            return
        code = Code.STORE if position else Code.LOAD
        words = self.values.subscripts(results, shape)
        self.code.emit(code, register, self.arrays[memref], len(results), 5 + len(words), *words, origin=op)

    def _copy(self, op: ir.Operation) -> None:
        source, target = (self.arrays[value] for value in op.operands)
        self.code.emit(Code.COPY, source, target)

    def _extent(self, op: ir.Operation) -> None:
        memref, place = ir.MemRefType(op.operands[0].type), op.operands[1]
        if not memref.has_static_shape or isinstance(place.owner, ir.Block):
            raise Unsupported("an extent is known at run time only", op)
        dimension = ir.IntegerAttr(place.owner.operation.attributes["value"]).value
        if not 0 <= dimension < memref.rank:
            raise Unsupported(f"dimension {dimension} of an array that has {memref.rank} is not defined", op)
        self.values.numbers[op.results[0]] = self.code.constant(memref.shape[dimension])

    # -- functions and streams ---------------------------------------------------------------------

    def _address(self, op: ir.Operation) -> None:
        self.addresses[op.results[0]] = op.operands[0]

    def _call(self, op: ir.Operation) -> None:
        """The functions that `allo-lower-types` makes of operations on streams."""
        callee = callee_name(op)
        if callee == "allo_stream_new":
            register = self.values.nodes[op.results[0]] = self.code.register()
            self.made.streams[self.code.emit(Code.NEW_STREAM, register)] = self._stream_name(op.operands[2])
        elif callee == "allo_streams_new":
            array = self.arrays[self.addresses[op.operands[0]]]
            self.made.streams[self.code.emit(Code.NEW_STREAMS, array)] = self.made.names[array]
        elif callee in _AT_STREAMS:
            code = _AT_STREAMS[callee]
            array = self.arrays[self.addresses[op.operands[1]]]
            self.code.emit(code, self.values.node(op.operands[0]), array, origin=op)
        elif callee in ("allo_stream_empty", "allo_stream_full", "allo_stream_try_put", "allo_stream_try_get"):
            raise Unsupported("what it finds in a stream depends on when tasks run", op)
        elif callee not in _ENDS:
            raise Unsupported(f"the body of '{callee}' is not known here", op)

    def _stream_name(self, address: ir.Value) -> str:
        """The text that a name's address points to."""
        symbol = ir.FlatSymbolRefAttr(self.addresses[address].owner.operation.attributes["name"]).value
        return str(symbol).removeprefix("allo_stream_name.")

    def _return(self, op: ir.Operation) -> None:
        self.made.results = [self._place(value) for value in op.operands]
        self.code.emit(Code.HALT)


_ON_NUMBERS = {
    "arith.addi": BinaryCode.ADD,
    "arith.subi": BinaryCode.SUB,
    "arith.muli": BinaryCode.MUL,
    "arith.minsi": BinaryCode.MIN,
    "arith.maxsi": BinaryCode.MAX,
}

assert INDEX.width == 64  # numbers are registers of 64 bits
