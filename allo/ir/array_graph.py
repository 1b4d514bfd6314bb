"""Values of a module that are one array: through calls, returns, constants and views."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import Enum
from typing import NamedTuple

from mlir import ir

from ..errors import InternalError
from .access import callee_name, is_array, is_load
from .context import context
from .module import Module
from .walk import argument_names, array_operations, buffer_name, entry_block, statements

_VIEWS = frozenset({"memref.cast", "allo.element_cast"})


class Role(Enum):
    """What a value is to the function that it is in."""

    ARGUMENT = "argument"
    LOCAL = "local"
    RESULT = "result"  # of a call
    CONSTANT = "constant"  # a constant, where a function takes its address
    VIEW = "view"  # another array with other elements or extents
    GLOBAL = "global"  # a constant of the module, of no function


_ENDS = ("func.call", "func.return")
_JOINING = frozenset({"func.call", "memref.get_global", *_VIEWS})
_ROLES = {"func.call": Role.RESULT, "memref.get_global": Role.CONSTANT, **dict.fromkeys(_VIEWS, Role.VIEW)}


class Link(Enum):
    """Why two values are one array."""

    ARGUMENT = "argument"  # a caller's array and the callee's argument
    RETURN = "return"  # what a callee returns and the result in a caller
    GLOBAL = "global"  # a constant and its address
    VIEW = "view"


class ArrayNode(NamedTuple):
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


class ArrayLink(NamedTuple):
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
        self._places: list[tuple[int | None, int]] = []  # by which operation of its function a node is made, and where
        self._globals: dict[str, int] = {}
        self._functions: dict[str, tuple[ir.OpView, ir.Block | None]] = {}
        self._returned: dict[str, ir.Operation] = {}  # what ends a function
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

    def retype(self, types: Mapping[int, ir.Type]) -> None:
        """Give arrays other types, and functions the signatures of these; the graph is then no longer valid."""
        for number, kind in types.items():
            if self.nodes[number].value is None:
                constant = self.module.symbol(self.nodes[number].name[1:])
                constant.attributes["type"] = ir.TypeAttr.get(kind, context())
        for name in dict.fromkeys(node.function for number in types if (node := self.nodes[number]).value is not None):
            self._retype_in(name, types)

    def _retype_in(self, name: str, types: Mapping[int, ir.Type]) -> None:
        """The operations of the function are looked up: those that were read may be of the state before."""
        function = self.module.function(name)
        entry = entry_block(function)
        assert entry is not None
        found = [op for op, _ in array_operations(entry, *_ENDS)]
        for number, kind in types.items():
            if self.nodes[number].function == name:
                place, position = self._places[number]
                values = entry.arguments if place is None else found[place].results
                values[position].set_type(kind)
        inputs = [argument.type for argument in entry.arguments]
        results = [value.type for value in found[-1].operands]  # `func.return` is the last of all
        signature = ir.FunctionType.get(inputs, results, context())
        function.operation.attributes["function_type"] = ir.TypeAttr.get(signature, context())

    def _read(self) -> None:
        functions: list[ir.OpView] = []
        for op in statements(self.module.mlir.body):
            if op.name == "func.func":
                functions.append(op.opview)
            elif op.name == "memref.global":
                name = ir.StringAttr(op.attributes["sym_name"]).value
                self._globals[name] = self._add(ArrayNode("", f"@{name}", Role.GLOBAL, None, op))
        joining = [found for function in functions for found in self._read_function(function)]
        for kind, op in joining:
            self._link(kind, op)

    def _read_function(self, function: ir.OpView) -> Iterator[tuple[str, ir.Operation]]:
        """Add the arrays of a function: the operations that join arrays, with their names."""
        name, entry = function.name.value, entry_block(function)
        self._functions[name] = function, entry
        if entry is None:
            return
        for position, (given, argument) in enumerate(zip(argument_names(function), entry.arguments, strict=True)):
            if is_array(argument.type):
                self._add(ArrayNode(name, given, Role.ARGUMENT, argument, None), None, position)
        for place, (op, made) in enumerate(array_operations(entry, *_ENDS)):
            kind = op.name
            if kind == "func.return":
                self._returned[name] = op
            elif not is_load(op):  # these give a stream of an array of streams
                self._add_results(name, kind, op, made, place)
                if kind in _JOINING:
                    yield kind, op

    def _add(self, node: ArrayNode, place: int | None = None, position: int = 0) -> int:
        self.nodes.append(node)
        self._places.append((place, position))
        self.around.append([])
        if node.value is not None:
            self._numbers[node.value] = len(self.nodes) - 1
        return len(self.nodes) - 1

    def _add_results(self, function: str, kind: str, op: ir.Operation, given: str | None, place: int) -> None:
        for position, result in enumerate(op.results):
            if is_array(result.type):
                made = given or (f"{callee_name(op)}_result" if kind == "func.call" else None)
                if kind in _VIEWS and given is None and op.operands[0] in self._numbers:
                    made = self.nodes[self._numbers[op.operands[0]]].name
                name = (made or "unnamed") + (f"#{position}" if position else "")
                self._add(ArrayNode(function, name, _ROLES.get(kind, Role.LOCAL), result, op), place, position)

    def _link(self, kind: str, op: ir.Operation) -> None:
        if kind == "memref.get_global":
            symbol = ir.FlatSymbolRefAttr(op.attributes["name"]).value
            self._join(Link.GLOBAL, self._globals[symbol], self._numbers[op.results[0]], op)
        elif kind == "func.call":
            self._link_call(op)
        else:
            self._join_values(Link.VIEW, op.operands[0], op.results[0], op)

    def _link_call(self, call: ir.Operation) -> None:
        callee = callee_name(call)
        _, entry = self._functions[callee]
        if entry is None:
            for value in (*call.operands, *call.results):
                if value in self._numbers:
                    self.external[self._numbers[value]] = call
            return
        for operand, argument in zip(call.operands, entry.arguments, strict=True):
            self._join_values(Link.ARGUMENT, operand, argument, call)
        for value, result in zip(self._returned[callee].operands, call.results, strict=True):
            self._join_values(Link.RETURN, value, result, call)

    def _join_values(self, kind: Link, source: ir.Value, target: ir.Value, op: ir.Operation) -> None:
        first, second = self._numbers.get(source), self._numbers.get(target)
        if first is not None and second is not None:
            self._join(kind, first, second, op)

    def _join(self, kind: Link, source: int, target: int, op: ir.Operation) -> None:
        self.links.append(ArrayLink(kind, source, target, op))
        self.around[source].append(len(self.links) - 1)
        self.around[target].append(len(self.links) - 1)

