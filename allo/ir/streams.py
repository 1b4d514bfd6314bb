"""Reads who puts into a stream and who gets from it, through calls and arrays of streams."""

from __future__ import annotations

import functools
from dataclasses import dataclass

from mlir import ir

from .module import Module
from .walk import entry_block, operations

SIDE = "allo.x_stream"  # of an argument of a declaration: "in" or "out" if the function has a stream there
_PUTS = frozenset({"allo.stream_put", "allo.stream_full"})
_GETS = frozenset({"allo.stream_get", "allo.stream_empty"})


@functools.cache
def is_stream_type(kind: ir.Type) -> bool:
    """A stream, or an array of streams; asked for the type of every value, of which a module has few."""
    if isinstance(kind, ir.MemRefType):
        kind = kind.element_type
    return str(kind).startswith("!allo.stream")


def uses_streams(function: ir.OpView) -> bool:
    """Whether a function makes, takes or uses a stream."""
    entry = entry_block(function)
    if entry is None:
        return False
    if any(is_stream_type(argument.type) for argument in entry.arguments):
        return True
    return any(is_stream_type(result.type) for op in operations(entry) for result in op.results)


def touches_streams(module: Module, op: ir.Operation) -> bool:
    """Whether an operation, what is in it, or what it calls uses or makes a stream."""
    inner = [op, *(i for r in op.regions for b in r.blocks for i in operations(b))]
    return any(_touches(module, one, set()) for one in inner)


def _touches(module: Module, op: ir.Operation, seen: set[str]) -> bool:
    if any(is_stream_type(value.type) for value in (*op.operands, *op.results)):
        return True
    if op.name != "func.call":
        return False
    name = ir.FlatSymbolRefAttr(op.attributes["callee"]).value
    if name in seen:
        return False
    seen.add(name)
    entry = entry_block(module.function(name))
    return entry is not None and any(_touches(module, inner, seen) for inner in operations(entry))


def declared_sides(function: ir.OpView) -> dict[int, str]:
    """The arguments that are streams in a function without a body: "in" if it gets from them, "out" if it puts."""
    attributes = function.operation.attributes
    marks = list(ir.ArrayAttr(attributes["arg_attrs"])) if "arg_attrs" in attributes else []
    found = {k: ir.DictAttr(mark) for k, mark in enumerate(marks)}
    return {k: ir.StringAttr(mark[SIDE]).value for k, mark in found.items() if SIDE in mark}


@dataclass(frozen=True, slots=True)
class Ends:
    """The streams (or arrays of streams) that a statement puts into, and those it gets from."""

    puts: frozenset[ir.Value]
    gets: frozenset[ir.Value]

    def within(self, streams: frozenset[ir.Value]) -> Ends:
        """What concerns some streams only."""
        return Ends(self.puts & streams, self.gets & streams)


def stream_of(value: ir.Value) -> ir.Value:
    """The stream, or the array of streams that it was taken from."""
    while not isinstance(value.owner, ir.Block) and value.owner.operation.name in ("affine.load", "memref.load"):
        value = value.owner.operation.operands[0]
    return value


class StreamUses:
    """Answers for the functions of one module; keeps those of callees."""

    def __init__(self, module: Module) -> None:
        self._functions = {function.name.value: function for function in module.functions()}
        self._arguments: dict[str, tuple[frozenset[int], frozenset[int]]] = {}

    def of(self, op: ir.Operation) -> Ends:
        """What `op` and all below it do to streams."""
        puts: set[ir.Value] = set()
        gets: set[ir.Value] = set()
        self._note(op, puts, gets)
        for region in op.regions:
            for block in region.blocks:
                for inner in operations(block):
                    self._note(inner, puts, gets)
        return Ends(frozenset(puts), frozenset(gets))

    def _note(self, op: ir.Operation, puts: set[ir.Value], gets: set[ir.Value]) -> None:
        if op.name in _PUTS:
            puts.add(stream_of(op.operands[0]))
        elif op.name in _GETS:
            gets.add(stream_of(op.operands[0]))
        elif op.name == "func.call":
            given, taken = self.of_arguments(ir.FlatSymbolRefAttr(op.attributes["callee"]).value)
            operands = list(op.operands)
            puts.update(stream_of(operands[position]) for position in given)
            gets.update(stream_of(operands[position]) for position in taken)

    def of_arguments(self, name: str) -> tuple[frozenset[int], frozenset[int]]:
        """The positions of the arguments that a function puts into, and of those it gets from."""
        if name not in self._arguments:
            function = self._functions.get(name)
            entry = None if function is None else entry_block(function)
            self._arguments[name] = (frozenset(), frozenset())  # of a function that calls itself, meanwhile
            if entry is None:
                sides = {} if function is None else declared_sides(function)
                self._arguments[name] = (
                    frozenset(k for k, side in sides.items() if side == "out"),
                    frozenset(k for k, side in sides.items() if side == "in"),
                )
            else:
                ends = self.of(entry.owner.operation)
                arguments = list(enumerate(entry.arguments))
                self._arguments[name] = (
                    frozenset(k for k, argument in arguments if argument in ends.puts),
                    frozenset(k for k, argument in arguments if argument in ends.gets),
                )
        return self._arguments[name]
