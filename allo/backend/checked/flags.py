"""Shadow arrays of flags, and loops over their elements."""

from __future__ import annotations

from collections.abc import Callable

from mlir import ir

from ...ir.builder import Builder, affine_dim, index_type, string_attr
from ...ir.context import context, unknown_location
from ...ir.streams import is_stream_type


def is_tracked(value: ir.Value) -> bool:
    return isinstance(value.type, ir.MemRefType) and not is_stream_type(value.type)


def flag_type() -> ir.Type:
    return ir.IntegerType.get_signless(1, context())


def flags_type(array: ir.Value, *, keeps_layout: bool = False) -> ir.MemRefType:
    kind = ir.MemRefType(array.type)
    layout = kind.layout if keeps_layout else None
    return ir.MemRefType.get(kind.shape, flag_type(), layout, None, unknown_location())


def behind(op: ir.Operation) -> Builder:
    """A builder behind `op`, with its location."""
    following = ir.InsertionPoint.after(op)
    return Builder(following, op.location)


def filled(builder: Builder, array: ir.Value, value: bool) -> ir.Value:
    """New flags for `array`, all of one value."""
    kind = flags_type(array)
    dynamic = []
    for dimension, extent in enumerate(kind.shape):
        if extent < 0:
            number = builder.constant(index_type(), dimension)
            dynamic.append(builder.value("memref.dim", index_type(), [array, number]))
    made = builder.alloc(kind, "is_defined", dynamic)
    fill(builder, made, value)
    return made


def fill(builder: Builder, flags: ir.Value, value: bool) -> None:
    each_element(
        builder, flags,
        lambda inner, map, at: inner.affine_store(inner.constant(flag_type(), int(value)), flags, map, at),
    )  # fmt: skip


def each_element(
    builder: Builder, array: ir.Value, body: Callable[[Builder, ir.AffineMap, list[ir.Value]], None]
) -> list[ir.Operation]:
    """Loops around what `body` makes of the place of an element; the outermost one first."""
    shape = ir.MemRefType(array.type).shape
    variables: list[ir.Value] = []
    loops: list[ir.Operation] = []
    for dimension, extent in enumerate(shape):
        zero = ir.AffineMap.get_constant(0, context())
        if extent >= 0:
            upper: tuple[ir.AffineMap, list[ir.Value]] = (ir.AffineMap.get_constant(extent, context()), [])
        else:
            number = builder.constant(index_type(), dimension)
            bound = builder.value("memref.dim", index_type(), [array, number])
            symbol = ir.AffineMap.get(0, 1, [ir.AffineExpr.get_symbol(0, context())], context())
            upper = (symbol, [bound])
        loop = builder.affine_for((zero, []), upper, 1, {"allo.name": string_attr(f"d{dimension}")})
        loops.append(loop)
        block = loop.regions[0].blocks[0]
        variables.append(block.arguments[0])
        builder = Builder(ir.InsertionPoint.at_block_terminator(block), builder.loc)
    count = len(variables)
    body(builder, ir.AffineMap.get(count, 0, [affine_dim(n) for n in range(count)], context()), variables)
    return loops
