"""Stream-layout converters as loop nests: a tile is filled in one order while the one before is drained in another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from mlir import ir

from ...ir.builder import Builder, affine_constant, affine_dim, i32_attr, string_attr
from ...ir.context import context, unknown_location
from ...ir.names import unique_name
from ...ir.walk import buffers_of, constant_bounds, induction_variable, loops_of
from ...layout import ITensor, StreamConverter, Walk
from ...poly import ModelLoop
from ..nest.rewrite import constant_for
from .accesses import Get
from .stages import Stage


@dataclass(frozen=True, slots=True)
class ConverterNest:
    """What was made: the nest, its tile, and the array in which the consumer reads the elements one after the other."""

    nest: str
    tile: str
    result: str


def insert_converter(
    function: ir.OpView, array: str, consumer: Stage, get: Get, made: StreamConverter
) -> ConverterNest:
    """Put a converter in front of the consumer, which then reads an array of one dimension, in its order.

        for p in range(rounds + 1):
            for x in range(n):
                if p < rounds:
                    tile[p % 2, x] = A[x-th element of round p]
                if p >= 1:
                    A_dst[n * (p - 1) + x] = tile[(p - 1) % 2, x-th element of the other order]
    """
    names, nests = set(buffers_of(function)), {view.nest for view in loops_of(function)}
    nest = unique_name(f"convert_{array}", nests)
    tile_name = unique_name(f"{array}_tile", names)
    result_name = unique_name(f"{array}_in_order", names)
    rounds, given, taken = made.rounds, len(made.fill), len(made.drain)
    element = ir.MemRefType(consumer.value.type).element_type
    builder = Builder.before(consumer.op)
    tile = builder.alloc(_memref([min(rounds, 2), made.size], element), tile_name)
    result = builder.alloc(_memref([rounds * taken], element), result_name)
    outer = constant_for(builder, rounds + 1 if rounds > 1 else 1, {"allo.nest": nest, "allo.name": "p"})
    p = induction_variable(outer)

    def side(builder: Builder, is_filling: bool, x: ir.Value, guards: list[ir.AffineExpr]) -> None:
        if guards:
            condition = ir.IntegerSet.get(2, 0, guards, [False] * len(guards), context())
            guard = builder.affine_if(condition, [p, x], has_else=False)
            builder = Builder(ir.InsertionPoint.at_block_terminator(guard.regions[0].blocks[0]), builder.loc)
        turn = affine_dim(0) - (0 if is_filling else rounds > 1)
        walk, count = (made.fill, given) if is_filling else (made.drain, taken)
        number = turn * count + affine_dim(1)
        half = (affine_dim(0) + (not is_filling)) % 2 if rounds > 1 else affine_constant(0)
        inside = _map([half, _address(walk, affine_dim(1))])
        outside = _map(_place(made.source, number) if is_filling else [number])
        if is_filling:
            builder.affine_store(builder.affine_load(consumer.value, outside, [p, x]), tile, inside, [p, x])
        else:
            builder.affine_store(builder.affine_load(tile, inside, [p, x]), result, outside, [p, x])

    if rounds > 1:
        inner, x = _inner(builder, outer, max(given, taken), "x")
        last, at_x = affine_constant(rounds - 1) - affine_dim(0), affine_dim(1)
        side(inner, True, x, [last] + [affine_constant(given - 1) - at_x] * (given < taken))
        side(inner, False, x, [affine_dim(0) - 1] + [affine_constant(taken - 1) - at_x] * (taken < given))
    else:
        for is_filling, count, name in ((True, given, "x"), (False, taken, "y")):
            inner, x = _inner(builder, outer, count, name)
            side(inner, is_filling, x, [])
    _read_in_order(get, get.loads[0].loops[consumer.fixed : get.depth], result)
    return ConverterNest(nest, tile_name, result_name)


def _memref(shape: list[int], element: ir.Type) -> ir.MemRefType:
    return ir.MemRefType.get(shape, element, loc=unknown_location())


def _map(results: list[ir.AffineExpr]) -> ir.AffineMap:
    return ir.AffineMap.get(2, 0, results, context())


def _inner(builder: Builder, outer: ir.Operation, extent: int, name: str) -> tuple[Builder, ir.Value]:
    """A pipelined loop at the end of the outer one; a builder inside of it, and its variable."""
    around = Builder(ir.InsertionPoint.at_block_terminator(outer.regions[0].blocks[0]), builder.loc)
    loop = constant_for(around, extent, {"allo.name": string_attr(name), "allo.pipeline": i32_attr(1)})
    inside = Builder(ir.InsertionPoint.at_block_terminator(loop.regions[0].blocks[0]), builder.loc)
    return inside, induction_variable(loop)


def _address(walk: Walk, number: ir.AffineExpr) -> ir.AffineExpr:
    """The address that a walk visits at a number."""
    found = affine_constant(walk.offset)
    for k, (extent, stride) in enumerate(zip(walk.extents, walk.strides, strict=True)):
        found = found + _digit(number, prod(walk.extents[k + 1 :]), extent, is_first=k == 0) * stride
    return found


def _digit(number: ir.AffineExpr, weight: int, extent: int, *, is_first: bool) -> ir.AffineExpr:
    count = ir.AffineExpr.get_floor_div(number, affine_constant(weight)) if weight > 1 else number
    return count if is_first else ir.AffineExpr.get_mod(count, affine_constant(extent))


def _place(order: ITensor, number: ir.AffineExpr) -> list[ir.AffineExpr]:
    """The subscripts of the element that passes at a number."""
    loops = order.scalars.normal
    found = [affine_constant(low) for low in order.offset]
    for k, loop in enumerate(loops):
        digit = _digit(number, prod(inner.trip for inner in loops[k + 1 :]), loop.trip, is_first=k == 0)
        found = [at + digit * stride if stride else at for at, stride in zip(found, loop.stride, strict=True)]
    return found


def _read_in_order(get: Get, loops: Sequence[ModelLoop], result: ir.Value) -> None:
    """Let loads of one element read the array that has the elements one after the other."""
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
    place = ir.AffineMap.get(len(loops), 0, [number], context())
    for load in get.loads:
        value = Builder.before(load.op).affine_load(result, place, variables)
        load.op.results[0].replace_all_uses_with(value)
        load.op.erase()
