"""Declarations of the arguments and results of a function: what is constant, what is a reference."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from mlir import ir

from allo._mlir.dialects import allo as allo_d

from ....ir.effects import Effects
from ....ir.module import Module
from ....ir.walk import argument_names, buffer_location, entry_block, location_of
from ...outlining import COUNTER
from .expression import Expr
from .memory import MEMORY
from .names import identifier
from .statements import StatementWriter


@dataclass(frozen=True, slots=True)
class Declared:
    """A parameter of a function of C++: its name, and its declaration."""

    name: str
    text: str


@dataclass(frozen=True, slots=True)
class FunctionText:
    """A function of C++: its prototype, the names of its parameters, and the lines of its definition."""

    prototype: str
    parameters: tuple[str, ...]
    lines: tuple[str, ...]

    def filled(self, filling: Mapping[int, str]) -> FunctionText:
        """The text with what stands in its open places (`twins.py`)."""
        # open places are no ASCII, and `isascii` need not look at each character
        lines = tuple(line if line.isascii() else line.translate(filling) for line in self.lines)
        return FunctionText(self.prototype.translate(filling), self.parameters, lines)


class Facts:
    """What the functions of a module do with their arguments, found once."""

    def __init__(self, module: Module) -> None:
        self.module = module
        self.top = module.top
        self.effects = Effects(module)

    def is_only_read(self, name: str, position: int) -> bool:
        """Whether function `name` never stores to the array that is its argument `position`."""
        return position not in self.effects.written_arguments(name)


class SignatureWriter:
    """The declarations of one function: arguments, then results, and the pragmas on them."""

    def __init__(self, facts: Facts, function: ir.OpView, writer: StatementWriter) -> None:
        self.facts = facts
        self.function = function
        self.name = function.name.value
        self.writer = writer
        self.vendor = writer.vendor
        self.types = writer.types
        self.parameters: list[Declared] = []
        self.pragmas: list[str] = []

    def add_arguments(self) -> None:
        entry = entry_block(self.function)
        assert entry is not None
        if self.name == self.facts.top:
            self.writer.array_port = self.vendor.array_port
        attributes = self.function.operation.attributes
        given = [ir.DictAttr(a) for a in ir.ArrayAttr(attributes["arg_attrs"])] if "arg_attrs" in attributes else []
        writer = self.writer
        for position, (label, value) in enumerate(
            zip(argument_names(self.function), entry.arguments, strict=True)
        ):
            name = identifier(label, writer.taken)
            if given and COUNTER in given[position]:
                self.parameters.append(Declared(name, self._counter(value, name, given[position])))
                continue
            self.parameters.append(Declared(name, self._declared(value, name)))
            if isinstance(value.type, ir.MemRefType):
                self.pragmas += writer.layout(value.type, name)
                if given and MEMORY in given[position]:
                    self.pragmas += writer.storage(given[position], value.type, name, buffer_location(value))

    def _counter(self, value: ir.Value, name: str, marks: ir.DictAttr) -> str:
        """The variable of a loop around a process, declared as loops do."""
        self.writer.exprs[value] = Expr(name, type="int")
        if ir.BoolAttr(marks[COUNTER]).value:
            self.writer.positive.add(value)
        return f"int {name}"

    def _declared(self, value: ir.Value, name: str) -> str:
        kind, exprs = value.type, self.writer.exprs
        width = kind.width if isinstance(kind, ir.IntegerType) else 0
        if isinstance(kind, allo_d.StreamType):
            exprs[value] = Expr(name)
            return self._stream(kind, name, "", value)
        if not isinstance(kind, ir.MemRefType):
            exprs[value] = Expr(name, type=self.types.of(kind), width=width)
            return f"{self.types.of(kind)} {name}"
        exprs[value] = Expr(name)
        element = ir.MemRefType(kind).element_type
        if isinstance(element, allo_d.StreamType):
            return self._stream(element, name, self.writer.extents(ir.MemRefType(kind)), value)
        return self._constness(value) + self._array(kind, name)

    def _constness(self, value: ir.Value) -> str:
        """Inner functions promise what they only read, so that constants can be passed; hosts know the entry."""
        inner = self.name != self.facts.top
        return "const " if inner and self.facts.is_only_read(self.name, value.arg_number) else ""

    def _stream(self, kind: ir.Type, name: str, extents: str, value: ir.Value) -> str:
        """A FIFO, or an array of FIFOs, as an argument."""
        streams = self.vendor.streams
        fed = self.facts.effects.fed_arguments(self.name)
        is_read = streams.source != streams.sink and value.arg_number in fed
        if streams.port and self.name == self.facts.top:
            self.pragmas.append(streams.port.format(name=name))
        made = streams.argument(self.writer.stream_type(kind), name, extents, is_read=is_read)
        return self.vendor.known(made, "streams between kernels", location_of(self.function.operation))

    def _array(self, kind: ir.Type, name: str) -> str:
        memref = ir.MemRefType(kind)
        element = self.types.of(memref.element_type)
        return f"{element} {name}{self.writer.extents(memref)}" if memref.shape else f"{element} &{name}"

    def add_results(self, returned: ir.Operation) -> dict[int, str]:
        """Arguments for the results; those that are not arrays of the function itself, by their position, are
        assigned in the end."""
        leaving: dict[int, str] = {}
        writer = self.writer
        for position, value in enumerate(returned.operands):
            label = f"result{position}" if len(returned.operands) > 1 else "result"
            own = _own_array(value, returned)
            if own is not None and value not in writer.outputs:
                name = identifier(own, writer.taken)
                writer.outputs[value] = name
            else:
                name = identifier(label, writer.taken)
                leaving[position] = name
            if isinstance(value.type, ir.MemRefType):
                self.parameters.append(Declared(name, self._array(value.type, name)))
                self.pragmas += writer.layout(value.type, name)
            else:
                self.parameters.append(Declared(name, f"{self.types.of(value.type)} &{name}"))
        return leaving


def _own_array(value: ir.Value, returned: ir.Operation) -> str | None:
    """The name of an array that the function makes itself, once, and returns."""
    if isinstance(value.owner, ir.Block) or not isinstance(value.type, ir.MemRefType):
        return None
    maker = value.owner.operation
    if maker.name not in ("memref.alloc", "func.call") or maker.block != returned.block:
        return None
    name = ir.StringAttr(maker.attributes["allo.name"]).value if "allo.name" in maker.attributes else "result"
    return str(name)
