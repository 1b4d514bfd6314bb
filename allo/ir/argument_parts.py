"""Parts of arguments that tasks are declared to have, by the axes of their grid: marks of the emitted functions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mlir import ir

from .context import context

PART = "allo.x_part"


@dataclass(frozen=True, slots=True)
class DeclaredPart:
    """A part of an array of extents `whole`: `extents` elements, by the position along the axis of each dimension."""

    axes: tuple[int | None, ...]
    extents: tuple[int, ...]
    whole: tuple[int, ...]

    def start(self, position: Sequence[int]) -> tuple[int, ...]:
        """Where the part of a position begins; the only position of a task may be without coordinates."""
        pairs = zip(self.axes, self.extents, strict=True)
        known = dict(enumerate(position))
        return tuple(known.get(axis, 0) * extent if axis is not None else 0 for axis, extent in pairs)


def part_attr(part: DeclaredPart) -> ir.Attribute:
    """A part as an attribute of an argument: for each dimension its axis, -1 of none, its extent, and that of all."""
    axes = [-1 if axis is None else axis for axis in part.axes]
    rows = zip(axes, part.extents, part.whole, strict=True)
    return ir.ArrayAttr.get([ir.DenseI64ArrayAttr.get(list(row), context()) for row in rows], context())


def declared_parts(function: ir.OpView) -> dict[int, DeclaredPart]:
    """The parts that the arguments of a function are declared to be, by number; none of arrays of another shape now."""
    attributes = function.operation.attributes
    marks = map(ir.DictAttr, ir.ArrayAttr(attributes["arg_attrs"])) if "arg_attrs" in attributes else ()
    inputs = ir.FunctionType(ir.TypeAttr(attributes["function_type"]).value).inputs
    found = {}
    for number, (own, kind) in enumerate(zip(marks, inputs, strict=False)):
        if PART not in own or not isinstance(kind, ir.MemRefType):
            continue
        rows = [list(ir.DenseI64ArrayAttr(row)) for row in ir.ArrayAttr(own[PART])]
        axes, extents, whole = zip(*rows, strict=True)
        if whole == tuple(kind.shape):
            found[number] = DeclaredPart(tuple(None if axis < 0 else axis for axis in axes), extents, whole)
    return found
