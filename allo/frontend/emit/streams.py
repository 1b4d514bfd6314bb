"""Emitter of streams and of grids of tasks."""

from __future__ import annotations

from math import prod

from mlir import ir

from ...ir.builder import Builder, affine_constant, i32_attr, string_attr, unit_attr
from ...ir.context import context
from ...ir.elements import SPATIAL
from ...ir.mlir_types import stream_type
from ...ir.stream_facts import BLOCK, PACKED
from ...ir.types import ChannelType
from ..typing.nodes import Symbol, TaskGrid
from .affine_form import AffineLoop


def made_stream(builder: Builder, stream: ChannelType, name: str) -> ir.Value:
    """An empty FIFO, or an array of them."""
    kind = stream_type(stream)
    if isinstance(kind, ir.MemRefType):
        made = builder.alloc(kind, name)
    else:
        made = builder.value("allo.stream_create", kind, [], {"allo.name": string_attr(name)})
    if stream.block:
        made.owner.attributes[PACKED if stream.packed else BLOCK] = i32_attr(prod(stream.block))
    return made


def grid_of(
    builder: Builder, statement: TaskGrid, nest: str, loops: dict[Symbol, AffineLoop | ir.Value]
) -> ir.InsertionPoint:
    """The loops over the positions of a grid, each of which is an element; where the call of its task stands."""
    outer = builder.point
    bounds = [ir.AffineMap.get(0, 0, [affine_constant(n)], context()) for n in (0, *statement.extents)]
    for number, symbol in enumerate(statement.positions):
        attributes: dict[str, ir.Attribute] = {"allo.name": string_attr(symbol.name), SPATIAL: unit_attr()}
        if number == 0:
            attributes["allo.nest"] = string_attr(nest)
        op = builder.affine_for((bounds[0], ()), (bounds[number + 1], ()), 1, attributes)
        body = op.regions[0].blocks[0]
        loops[symbol] = AffineLoop(body.arguments[0])
        builder.point = ir.InsertionPoint.at_block_terminator(body)
    inside, builder.point = builder.point, outer
    return inside
