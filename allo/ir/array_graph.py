"""Reads which values of a module are one array: through calls, returns, constants and views."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

from mlir import ir

from ..errors import InternalError
from .context import context
from .module import Module
from .streams import is_stream_type
from .walk import argument_names, array_operations, buffer_name, entry_block, string_of

_VIEWS = frozenset({"memref.cast", "allo.element_cast"})


class Role(Enum):
    """What a value is to the function that it is in."""

    ARGUMENT = "argument"
    LOCAL = "local"
    RESULT = "result"  # of a call
    CONSTANT = "constant"  # a constant, where a function takes its address
    VIEW = "view"  # another array with other elements or extents
    GLOBAL = "global"  # a constant of the module, of no function


_ROLES = {"func.call": Role.RESULT, "memref.get_global": Role.CONSTANT, **dict.fromkeys(_VIEWS, Role.VIEW)}


class Link(Enum):
    """Why two values are one array."""

    ARGUMENT = "argument"  # a caller's array and the callee's argument
    RETURN = "return"  # what a callee returns and the result in a caller
    GLOBAL = "global"  # a constant and its address
    VIEW = "view"


@dataclass(frozen=True, slots=True)
class ArrayNode:
    """An array or a stream of a function; `value` is None for a constant of the module, whose operation is `op`."""

    function: str
    name: str
    role: Role
    value: ir.Value | None
    op: ir.Operation | None

    @property
    def type(self) -> ir.Type:
        """Its type in MLIR."""
        if self.value is not None:
            return self.value.type
        assert self.op is not None
        return ir.TypeAttr(self.op.attributes["type"]).value


@dataclass(frozen=True, slots=True)
class ArrayLink:
    """Nodes `source` and `target` are one array because of `op`; data of arguments flow from the caller."""

    kind: Link
    source: int
    target: int
    op: ir.Operation


class ArrayGraph:
    """The arrays and streams of all functions of a module, numbered; valid until the module is rewritten."""

    def __init__(self, module: Module) -> None:
        self.module = module
        self.nodes: list[ArrayNode] = []
        self.links: list[ArrayLink] = []
        self.around: list[list[int]] = []  # the numbers of the links of a node
        self.external: dict[int, ir.Operation] = {}  # what a call gives to a function without a body, or gets from it
        self._numbers: dict[ir.Value, int] = {}
        self._globals: dict[str, int] = {}
        self._entries = {f.name.value: entry_block(f) for f in module.functions()}
        self._read()

    def number(self, value: ir.Value) -> int:
        """The number of the node of a value."""
        return self._numbers[value]

    def find(self, function: str, name: str) -> int:
        """The number of the array that `buffers_of` finds under this name in a function; InternalError without one."""
        for number in reversed(range(len(self.nodes))):
            node = self.nodes[number]
            if (node.function, node.name) == (function, name) and (node.op is None or buffer_name(node.op) == name):
                return number
        raise InternalError(f"no buffer '{function}:{name}'")

    def neighbours(self, number: int) -> Iterator[int]:
        """The nodes that are directly linked with a node."""
        for position in self.around[number]:
            link = self.links[position]
            yield link.target if link.source == number else link.source

    def same(self, number: int) -> list[int]:
        """All nodes that are one array with a node (or, by several calls of a function, must have one type with it)."""
        found, seen = [number], {number}
        for node in found:
            for other in self.neighbours(node):
                if other not in seen:
                    seen.add(other)
                    found.append(other)
        return found

    def _read(self) -> None:
        for top in self.module.mlir.body.operations:
            if top.operation.name == "memref.global":
                name = ir.StringAttr(top.operation.attributes["sym_name"]).value
                self._globals[name] = self._add(ArrayNode("", f"@{name}", Role.GLOBAL, None, top.operation))
        statements: list[tuple[str, ir.Operation]] = []
        for function in self.module.functions():
            name, entry = function.name.value, self._entries[function.name.value]
            if entry is None:
                continue
            for given, argument in zip(argument_names(function), entry.arguments, strict=True):
                if is_array(argument.type):
                    self._add(ArrayNode(name, given, Role.ARGUMENT, argument, None))
            for op in array_operations(entry, "func.call", "func.return"):
                statements.append((name, op))
                self._add_results(name, op)
        for name, op in statements:
            self._link(name, op)

    def _add(self, node: ArrayNode) -> int:
        self.nodes.append(node)
        self.around.append([])
        if node.value is not None:
            self._numbers[node.value] = len(self.nodes) - 1
        return len(self.nodes) - 1

    def _add_results(self, function: str, op: ir.Operation) -> None:
        if op.name in ("affine.load", "memref.load"):  # a stream of an array of streams
            return
        given = string_of(op, "allo.name")
        for position, result in enumerate(op.results):
            if is_array(result.type):
                made = given or (f"{callee_name(op)}_result" if op.name == "func.call" else None)
                if op.name in _VIEWS and given is None and op.operands[0] in self._numbers:
                    made = self.nodes[self._numbers[op.operands[0]]].name
                name = (made or "unnamed") + (f"#{position}" if position else "")
                self._add(ArrayNode(function, name, _ROLES.get(op.name, Role.LOCAL), result, op))

    def _link(self, function: str, op: ir.Operation) -> None:
        if op.name == "memref.get_global":
            symbol = ir.FlatSymbolRefAttr(op.attributes["name"]).value
            self._join(Link.GLOBAL, self._globals[symbol], self._numbers[op.results[0]], op)
        elif op.name in _VIEWS:
            self._join_values(Link.VIEW, op.operands[0], op.results[0], op)
        elif op.name == "func.call":
            self._link_call(op)

    def _link_call(self, call: ir.Operation) -> None:
        entry = self._entries[callee_name(call)]
        if entry is None:
            for value in (*call.operands, *call.results):
                if value in self._numbers:
                    self.external[self._numbers[value]] = call
            return
        for operand, argument in zip(call.operands, entry.arguments, strict=True):
            self._join_values(Link.ARGUMENT, operand, argument, call)
        returned = entry.operations[len(entry.operations) - 1].operands
        for value, result in zip(returned, call.results, strict=True):
            self._join_values(Link.RETURN, value, result, call)

    def _join_values(self, kind: Link, source: ir.Value, target: ir.Value, op: ir.Operation) -> None:
        if source in self._numbers and target in self._numbers:
            self._join(kind, self._numbers[source], self._numbers[target], op)

    def _join(self, kind: Link, source: int, target: int, op: ir.Operation) -> None:
        self.links.append(ArrayLink(kind, source, target, op))
        self.around[source].append(len(self.links) - 1)
        self.around[target].append(len(self.links) - 1)


def is_array(kind: ir.Type) -> bool:
    """Whether values of a type are nodes: arrays, scalar variables and streams."""
    return isinstance(kind, ir.MemRefType) or is_stream_type(kind)


def callee_name(call: ir.Operation) -> str:
    """The name of the function that a `func.call` calls."""
    name: str = ir.FlatSymbolRefAttr(call.attributes["callee"]).value
    return name


def set_type(node: ArrayNode, kind: ir.Type) -> None:
    """Give an array another type; `write_signatures` then makes the functions agree."""
    if node.value is not None:
        node.value.set_type(kind)
    elif node.op is not None:
        node.op.attributes["type"] = ir.TypeAttr.get(kind, context())


def write_signatures(module: Module, names: set[str]) -> None:
    """Make the signatures of functions those of their arguments and of what they return."""
    for function in module.functions():
        entry = entry_block(function)
        if entry is not None and function.name.value in names:
            end = entry.operations[len(entry.operations) - 1]
            inputs = [argument.type for argument in entry.arguments]
            signature = ir.FunctionType.get(inputs, [value.type for value in end.operands], context())
            function.operation.attributes["function_type"] = ir.TypeAttr.get(signature, context())
