"""Calls of processing elements, all of them or, while a module is rewritten, one of each class."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from mlir import ir

from ..errors import InternalError
from ..ir.builder import Builder, index_type, string_attr
from ..ir.context import context
from ..ir.module import Module
from ..ir.processes import APART_FROM, ELEMENT_NAME, ELEMENT_OF, ELEMENT_POSITION, TASK_NUMBER
from ..ir.streams import is_stream_type
from ..ir.walk import entry_block, operations, statements, string_of
from ..poly.position_classes import Position
from .element_class import ElementClass
from .positions import Place


@dataclass(frozen=True, slots=True)
class ElementMarks:
    """What says of calls which elements of a nest they are."""

    nest: str
    shared: dict[str, ir.Attribute]
    task: str | None

    @classmethod
    def of(cls, nest: ir.Operation, name: str) -> ElementMarks:
        """The marks of the elements of a nest with this name."""
        task = string_of(nest, TASK_NUMBER)
        shared: dict[str, ir.Attribute] = {ELEMENT_OF: string_attr(name)}
        if task is not None:
            shared[APART_FROM] = string_attr(string_of(nest, APART_FROM) or "")
        return cls(name, shared, task)

    def at(self, number: int, name: str, position: Position) -> dict[str, ir.Attribute]:
        """Those of one element."""
        values = [ir.IntegerAttr.get(index_type(), value) for value in position]
        marks = {**self.shared, ELEMENT_NAME: string_attr(name)}
        marks[ELEMENT_POSITION] = ir.ArrayAttr.get(values, context())
        if self.task is not None:
            marks[TASK_NUMBER] = string_attr(f"{self.task} {number}")
        return marks


class ElementUse(NamedTuple):
    """An element of a nest: its name and position, and the parts of arrays that it uses."""

    name: str
    position: Position
    parts: dict[int, list[Place]]


@dataclass(frozen=True, slots=True)
class NestCalls:
    """The calls of a nest in function `caller`: its elements, the class of each, and their marks.

    The classes pass `values`, of these types, or parts of them.
    """

    caller: str
    elements: Sequence[ElementUse]
    classes: Sequence[ElementClass]
    marks: ElementMarks
    kinds: Sequence[ir.Type]

    def write(self, builder: Builder, values: Sequence[ir.Value]) -> None:
        """Write all calls."""
        known: dict[tuple[int, Place], ir.Value] = {}
        for number in range(len(self.elements)):
            self._write(builder, number, dict(enumerate(values)), known)

    def fold(self, builder: Builder, values: Sequence[ir.Value]) -> None:
        """Write the calls of the first elements of classes only."""
        known: dict[tuple[int, Place], ir.Value] = {}
        for number in self._first():
            self._write(builder, number, dict(enumerate(values)), known)

    def renamed(self, names: Mapping[str, str]) -> NestCalls:
        """The calls after functions have got other names."""
        for made in self.classes:
            made.name = names.get(made.name, made.name)
        return replace(self, caller=names.get(self.caller, self.caller))

    def unfold(self, module: Module) -> None:
        """Write the calls of all others, in the order of the elements, behind those of the first ones."""
        entry = entry_block(module.function(self.caller))
        assert entry is not None
        names = {self.elements[number].name: number for number in self._first()}
        calls = {
            names[name]: call for call in operations(entry, "func.call")
            if string_of(call, ELEMENT_OF) == self.marks.nest and (name := string_of(call, ELEMENT_NAME)) in names
        }  # fmt: skip
        values: dict[int, ir.Value] = {}
        known: dict[tuple[int, Place], ir.Value] = {}
        for number, call in calls.items():
            uses = self.classes[number].uses(self.elements[number].parts)
            for operand, (of, place) in zip(call.operands, uses, strict=True):
                values[of] = operand if place is None else self._array(of, operand)
                if place is not None:
                    known[of, place] = operand
        block = statements(entry)
        end = block[max(map(block.index, calls.values())) + 1]
        builder = Builder(ir.InsertionPoint(end), next(iter(calls.values())).location)
        for number in range(len(self.elements)):
            if number in calls:
                calls[number].move_before(end)
            else:
                self._write(builder, number, values, known)

    def _first(self) -> list[int]:
        """The numbers of the first elements of classes."""
        found: dict[ElementClass, int] = {}
        for number, made in enumerate(self.classes):
            found.setdefault(made, number)
        return list(found.values())

    def _write(
        self, builder: Builder, number: int, values: Mapping[int, ir.Value], known: dict[tuple[int, Place], ir.Value]
    ) -> None:
        """Write one call; parts that earlier elements use too are `known`."""
        name, position, parts = self.elements[number]
        self.classes[number].call(builder, values, parts, self.marks.at(number, name, position), known)

    def _array(self, of: int, part: ir.Value) -> ir.Value:
        """The array with this number, of which a call passes a part; its elements may be words of other types now."""
        array, kind = part, self.kinds[of]
        while not _same_form(array.type, kind):
            if isinstance(array.owner, ir.Block) or not len(array.owner.operation.operands):
                raise InternalError(f"nest '{self.marks.nest}' passes parts of no array of type {kind}")
            array = array.owner.operation.operands[0]
        return array


def _same_form(one: ir.Type, other: ir.Type) -> bool:
    """Whether both are arrays of the same extents, of FIFOs or not, whatever the elements are."""
    if not isinstance(one, ir.MemRefType) or not isinstance(other, ir.MemRefType):
        return False
    return list(one.shape) == list(other.shape) and is_stream_type(one) == is_stream_type(other)
