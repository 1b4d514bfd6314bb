"""FIFOs of a module, those among them that have one type, and other depths for them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from mlir import ir

from allo._mlir.dialects import allo as allo_d

from ...errors import Location
from ...ir.access import callee_name
from ...ir.context import context, unknown_location
from ...ir.mlir_types import from_mlir
from ...ir.module import Module
from ...ir.states import Draft
from ...ir.stream_facts import made_streams
from ...ir.streams import is_stream_type, uses_streams
from ...ir.types import TensorType
from ...ir.walk import buffer_location, entry_block, operations, string_of
from ..step.handles import FifoName


@dataclass(frozen=True, slots=True)
class FifoFacts:
    """FIFOs that one operation makes: how many, and where."""

    fifo: FifoName
    count: int
    at: Location | None


@dataclass(frozen=True, slots=True)
class FifoKind:
    """FIFOs and arrays of FIFOs that have one type, since they are passed to one argument of a function.

    `is_open`: the entry has it as an argument, or a function without a body takes it, so that others know its depth.
    Elements have so many `bits`.
    """

    fifos: tuple[FifoFacts, ...]
    depth: int
    bits: int
    is_open: bool


def fifo_kinds(module: Module) -> list[FifoKind]:
    """The types of all FIFOs that a module makes, in the order of the text."""
    functions = {function.name.value: function for function in module.functions()}
    found = _Joined(module.top, functions)
    kinds: dict[int, list[tuple[FifoFacts, ir.Type]]] = {}
    for name, function in functions.items():
        for op in made_streams(function):
            kind = op.results[0].type
            count = math.prod(kind.shape) if isinstance(kind, ir.MemRefType) else 1
            facts = FifoFacts(FifoName(name, fifo_name(op)), count, buffer_location(op.results[0]))
            kinds.setdefault(found.root(op.results[0]), []).append((facts, kind))
    return [
        FifoKind(tuple(facts for facts, _ in made), depth_of(made[0][1]), bits_of(made[0][1]), root in found.open)
        for root, made in kinds.items()
    ]


def fifo_name(made: ir.Operation) -> str:
    """The name of the FIFO that an operation makes."""
    return string_of(made, "allo.name") or "stream"


def depth_of(kind: ir.Type) -> int:
    """How many elements a FIFO of a type, or each of an array of FIFOs, holds."""
    depth: int = allo_d.StreamType(kind.element_type if isinstance(kind, ir.MemRefType) else kind).depth
    return depth


def bits_of(kind: ir.Type) -> int:
    """The bits of an element, which may be a block."""
    element = allo_d.StreamType(kind.element_type if isinstance(kind, ir.MemRefType) else kind).element_type
    user = from_mlir(element)
    return math.prod(user.shape) * user.element.bits if isinstance(user, TensorType) else user.bits


def set_depths(module: Draft, depths: Mapping[FifoName, int]) -> None:
    """Give FIFOs other depths; those of one type must be given the same one."""
    names = [function.name.value for function in module.before.functions() if uses_streams(function)]
    functions = {name: module.function(name) for name in names}
    joined = _Joined(module.top, functions)
    wanted = {
        joined.root(op.results[0]): depths[fifo]
        for name, function in functions.items()
        for op in made_streams(function)
        if (fifo := FifoName(name, fifo_name(op))) in depths
    }
    for value, root in joined.roots():
        if root in wanted:
            value.set_type(_with_depth(value.type, wanted[root]))
    for function in functions.values():
        _retype(function)


def _with_depth(kind: ir.Type, depth: int) -> ir.Type:
    if isinstance(kind, ir.MemRefType):
        element = _with_depth(kind.element_type, depth)
        return ir.MemRefType.get(kind.shape, element, kind.layout, kind.memory_space, unknown_location())
    return allo_d.StreamType.get(allo_d.StreamType(kind).element_type, depth)


def _retype(function: ir.OpView) -> None:
    """Let the type of a function be that of its arguments."""
    entry = entry_block(function)
    if entry is not None:
        results = ir.FunctionType(ir.TypeAttr(function.operation.attributes["function_type"]).value).results
        kind = ir.FunctionType.get([a.type for a in entry.arguments], results, context=context())
        function.operation.attributes["function_type"] = ir.TypeAttr.get(kind, context())


class _Joined:
    """Values that have one type: what calls pass and functions take, arrays of FIFOs and their elements."""

    def __init__(self, top: str, functions: Mapping[str, ir.OpView]) -> None:
        self._number: dict[ir.Value, int] = {}
        self._root: list[int] = []
        outside: list[ir.Value] = []
        for name, function in functions.items():
            entry = entry_block(function)
            if entry is None:
                continue
            if name == top:
                outside += [value for value in entry.arguments if is_stream_type(value.type)]
            for one, other in _pairs(entry, functions):
                if other is None:
                    outside.append(one)
                else:
                    self._join(one, other)
        self.open = {self.root(value) for value in outside}

    def root(self, value: ir.Value) -> int:
        """The number of all that have one type with a value."""
        if value not in self._number:
            self._number[value] = len(self._root)
            self._root.append(len(self._root))
        number = self._number[value]
        while self._root[number] != number:
            self._root[number] = number = self._root[self._root[number]]
        return number

    def roots(self) -> Iterator[tuple[ir.Value, int]]:
        return ((value, self.root(value)) for value in list(self._number))

    def _join(self, one: ir.Value, other: ir.Value) -> None:
        self._root[self.root(one)] = self.root(other)


def _pairs(entry: ir.Block, functions: Mapping[str, ir.OpView]) -> Iterator[tuple[ir.Value, ir.Value | None]]:
    """Values of a function with the values that have one type with them; None for those that others declare."""
    for op in operations(entry):
        streams = [(k, value) for k, value in enumerate(op.operands) if is_stream_type(value.type)]
        if op.name == "func.call":
            callee = functions.get(callee_name(op))
            taken = None if callee is None else entry_block(callee)
            for k, value in streams:
                yield value, None if taken is None else taken.arguments[k]
        else:
            yield from ((value, made) for _, value in streams for made in op.results if is_stream_type(made.type))
