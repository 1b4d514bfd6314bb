"""Alias graph of a module: values that are one array, through calls, returns, constants and views."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from enum import Enum
from typing import NamedTuple

from mlir import ir

from .function_arrays import (
    ArrayRole,
    FunctionArrays,
    Joining,
    LocalArray,
    function_arrays,
    joining_operations,
)
from .module import Module
from .walk import entry_block, statements

__all__ = ["ArrayGraph", "ArrayLink", "ArrayNode", "ArrayRole", "Link"]


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
    role: ArrayRole
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
        self._globals: dict[str, int] = {}
        self._read()

    def number(self, value: ir.Value) -> int:
        """The number of the node of a value."""
        return self._numbers[value]

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
        read: dict[str, _Read] = {}
        functions: list[ir.Operation] = []
        for op in statements(self.module.mlir.body):
            if op.name == "func.func":
                functions.append(op)
            elif op.name == "memref.global":
                name = ir.StringAttr(op.attributes["sym_name"]).value
                self._globals[name] = self._add(ArrayNode("", f"@{name}", ArrayRole.GLOBAL, None, op))
        for op in functions:
            name = ir.StringAttr(op.attributes["sym_name"]).value
            found = read[name] = _Read(function_arrays(op), entry_block(op.opview), len(self.nodes))
            for array in found.facts.arrays:
                self._add(ArrayNode(name, array.name, array.role, *found.value(array)))
        for found in read.values():
            for joining in found.facts.joinings:
                self._link(read, found, joining)

    def _add(self, node: ArrayNode) -> int:
        self.nodes.append(node)
        self.around.append([])
        if node.value is not None:
            self._numbers[node.value] = len(self.nodes) - 1
        return len(self.nodes) - 1

    def _link(self, read: Mapping[str, _Read], inside: _Read, joining: Joining) -> None:
        op = inside.operations[joining.place]
        operands, results = inside.numbers(joining.operands), inside.numbers(joining.results)
        if joining.role is ArrayRole.CONSTANT:
            self._join(Link.GLOBAL, self._globals[joining.symbol], results[0], op)
        elif joining.role is ArrayRole.VIEW:
            self._join(Link.VIEW, operands[0], results[0], op)
        elif (callee := read[joining.symbol]).facts.returned is None:
            self.external.update((number, op) for number in (*operands, *results) if number is not None)
        else:
            for operand, argument in zip(operands, callee.numbers(callee.facts.arguments), strict=True):
                self._join(Link.ARGUMENT, operand, argument, op)
            for value, result in zip(callee.numbers(callee.facts.returned), results, strict=True):
                self._join(Link.RETURN, value, result, op)

    def _join(self, kind: Link, source: int | None, target: int | None, op: ir.Operation) -> None:
        if source is None or target is None:
            return
        self.links.append(ArrayLink(kind, source, target, op))
        self.around[source].append(len(self.links) - 1)
        self.around[target].append(len(self.links) - 1)


class _Read:
    """The arrays of a function of the module, whose numbers in the graph begin with `first`."""

    def __init__(self, facts: FunctionArrays, entry: ir.Block | None, first: int) -> None:
        self.facts = facts
        self.first = first
        self.arguments = [] if entry is None else list(entry.arguments)
        self.operations = [] if entry is None else joining_operations(entry)

    def value(self, array: LocalArray) -> tuple[ir.Value, ir.Operation | None]:
        """An array, and what makes it."""
        if array.place is None:
            return self.arguments[array.position], None
        made = self.operations[array.place]
        return made.results[array.position], made

    def numbers(self, local: Sequence[int | None]) -> list[int | None]:
        """The numbers in the graph of arrays of the function."""
        return [None if number is None else self.first + number for number in local]
