"""Parts of nests between two streams: loops over the numbers of walks, and the places that these numbers mean."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from mlir import ir

from ...ir.builder import Builder, affine_constant, affine_dim, i32_attr, string_attr, unit_attr
from ...ir.context import context, unknown_location
from ...ir.walk import constant_bounds, induction_variable
from ...layout import ITensor, Walk
from ...poly import ModelLoop
from ..module.declared_orders import CONVERTER
from ..nest.rewrite import constant_for
from .accesses import Get


@dataclass(frozen=True, slots=True)
class ConverterNest:
    """What was made: the nest, its tile, and the array in which the consumer reads the elements one after the other."""

    nest: str
    tile: str
    result: str


def converter_marks(nest: str, loop: str) -> dict[str, ir.Attribute]:
    """The attributes of the outermost loop of a converter."""
    return {"allo.nest": string_attr(nest), "allo.name": string_attr(loop), CONVERTER: unit_attr()}


def memref_of(shape: list[int], element: ir.Type) -> ir.MemRefType:
    return ir.MemRefType.get(shape, element, loc=unknown_location())


def inside_of(op: ir.Operation, builder: Builder) -> Builder:
    """A builder at the end of the first block of an operation."""
    return Builder(ir.InsertionPoint.at_block_terminator(op.regions[0].blocks[0]), builder.loc)


def inner_loop(
    builder: Builder, extent: int, name: str, *, is_pipeline: bool = True
) -> tuple[Builder, ir.Value]:
    """A loop, pipelined or not; a builder inside of it, and its variable."""
    pipeline = {"allo.pipeline": i32_attr(1)} if is_pipeline else {}
    loop = constant_for(builder, extent, {"allo.name": string_attr(name), **pipeline})
    return inside_of(loop, builder), induction_variable(loop)


def map_of(variables: int, results: list[ir.AffineExpr]) -> ir.AffineMap:
    return ir.AffineMap.get(variables, 0, results, context())


def address_at(walk: Walk, number: ir.AffineExpr) -> ir.AffineExpr:
    """The address that a walk visits at a number."""
    found = affine_constant(walk.offset)
    for k, (extent, stride) in enumerate(zip(walk.extents, walk.strides, strict=True)):
        found = found + digit_of(number, prod(walk.extents[k + 1 :]), extent, is_first=k == 0) * stride
    return found


def place_at(order: ITensor, number: ir.AffineExpr, skipped: int = 0) -> list[ir.AffineExpr]:
    """The subscripts of the element that passes at a number, which the loops behind the first `skipped` ones count."""
    loops = order.scalars.normal
    found = [affine_constant(low) for low in order.offset]
    for k, loop in enumerate(loops):
        weight = prod(inner.trip for inner in loops[k + 1 :])
        digit = affine_dim(k) if k < skipped else digit_of(number, weight, loop.trip, is_first=k == skipped)
        found = [at + digit * stride if stride else at for at, stride in zip(found, loop.stride, strict=True)]
    return found


def digit_of(number: ir.AffineExpr, weight: int, extent: int, *, is_first: bool) -> ir.AffineExpr:
    count = ir.AffineExpr.get_floor_div(number, affine_constant(weight)) if weight > 1 else number
    return count if is_first else ir.AffineExpr.get_mod(count, affine_constant(extent))


def number_of(loops: Sequence[ModelLoop]) -> tuple[ir.AffineExpr, list[ir.Value]]:
    """The number of an iteration of loops with constant bounds, outermost first, and the variables in it."""
    number, variables = affine_constant(0), []
    for k, loop in enumerate(loops):
        bounds = constant_bounds(loop.op)
        assert bounds is not None
        lower, upper, step = bounds
        count = affine_dim(k) - lower
        if step > 1:
            count = ir.AffineExpr.get_floor_div(count, affine_constant(step))
        number = number * -(-(upper - lower) // step) + count
        variables.append(induction_variable(loop.op))
    return number, variables


def read_in_order(get: Get, loops: Sequence[ModelLoop], result: ir.Value) -> None:
    """Let loads of one element read the array that has the elements one after the other."""
    number, variables = number_of(loops)
    place = ir.AffineMap.get(len(loops), 0, [number], context())
    for load in get.loads:
        value = Builder.before(load.op).affine_load(result, place, variables)
        load.op.results[0].replace_all_uses_with(value)
        load.op.erase()
