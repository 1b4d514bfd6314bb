"""Module in plain operations, as hardware has them: words in place of fixed point and structs, loops of copies."""

from __future__ import annotations

from mlir import ir

from allo._mlir.dialects import allo as allo_d

from ...ir.access import is_copy
from ...ir.builder import Builder, affine_constant, affine_dim, i32_attr, string_attr
from ...ir.context import context
from ...ir.module import Module
from ...ir.passes import run_passes
from ...ir.walk import entry_block, operations, string_of


def plain_operations(module: Module) -> Module:
    """A copy in which numbers with a binary point and structs are integers of their widths, and arrays of known extents
    are copied by loops that start an element each cycle."""
    made = module.clone()
    entries = [entry for function in made.functions() if (entry := entry_block(function)) is not None]
    if any(map(_has_composed_numbers, entries)):
        run_passes("builtin.module(allo-lower-numbers)", made.mlir.operation)
    for entry in entries:
        copies = [op for op in operations(entry) if is_copy(op)]
        nests = {string_of(op, "allo.nest") for op in operations(entry)} if copies else set()
        for op in copies:
            if ir.MemRefType(op.operands[0].type).has_static_shape:
                _loops(op, nests)
    made.verify()
    return made


def _has_composed_numbers(entry: ir.Block) -> bool:
    values = [*entry.arguments, *(result for op in operations(entry) for result in op.results)]
    return any(map(_is_composed, {value.type for value in values}))


def _is_composed(kind: ir.Type) -> bool:
    if isinstance(kind, ir.MemRefType):
        return _is_composed(ir.MemRefType(kind).element_type)
    if isinstance(kind, allo_d.StreamType):
        return _is_composed(allo_d.StreamType(kind).element_type)
    return isinstance(kind, allo_d.FixedType | allo_d.UFixedType | allo_d.StructType)


def _loops(op: ir.Operation, nests: set[str | None]) -> None:
    """A copy as a nest that is one pipeline."""
    source, target = op.operands
    extents = list(ir.MemRefType(source.type).shape)
    nest = next(name for n in range(len(nests) + 1) if (name := f"copy_{n}") not in nests)
    nests.add(nest)
    builder = Builder.before(op)
    variables: list[ir.Value] = []
    for dimension, extent in enumerate(extents):
        attributes: dict[str, ir.Attribute] = {"allo.name": string_attr(f"{nest}_{dimension}")}
        if not dimension:
            attributes["allo.nest"] = string_attr(nest)
        if dimension == len(extents) - 1:
            attributes["allo.pipeline"] = i32_attr(1)
        zero, end = (ir.AffineMap.get(0, 0, [affine_constant(n)], context()) for n in (0, extent))
        loop = builder.affine_for((zero, []), (end, []), 1, attributes)
        block = loop.regions[0].blocks[0]
        variables.append(block.arguments[0])
        builder.point = ir.InsertionPoint.at_block_terminator(block)
    place = ir.AffineMap.get(len(extents), 0, [affine_dim(n) for n in range(len(extents))], context())
    builder.affine_store(builder.affine_load(source, place, variables), target, place, variables)
    op.erase()
