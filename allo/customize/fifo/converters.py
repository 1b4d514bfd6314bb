"""Stream-layout converters as loop nests: a tile is filled in one order while the one before is drained in another."""

from __future__ import annotations

from mlir import ir

from ...ir.builder import Builder, affine_constant, affine_dim
from ...ir.context import context
from ...ir.names import unique_name
from ...ir.walk import buffers_of, induction_variable, loops_of
from ...layout import StreamConverter
from ..nest.rewrite import constant_for
from .accesses import Get
from .stages import Stage
from .walking import (
    ConverterNest,
    address_at,
    converter_marks,
    inner_loop,
    inside_of,
    map_of,
    memref_of,
    place_at,
    read_in_order,
)


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
    tile = builder.alloc(memref_of([min(rounds, 2), made.size], element), tile_name)
    result = builder.alloc(memref_of([rounds * taken], element), result_name)
    outer = constant_for(builder, rounds + 1 if rounds > 1 else 1, converter_marks(nest, "p"))
    p = induction_variable(outer)

    def side(builder: Builder, is_filling: bool, x: ir.Value, guards: list[ir.AffineExpr]) -> None:
        if guards:
            condition = ir.IntegerSet.get(2, 0, guards, [False] * len(guards), context())
            guard = builder.affine_if(condition, [p, x], has_else=False)
            builder = inside_of(guard, builder)
        turn = affine_dim(0) - (0 if is_filling else rounds > 1)
        walk, count = (made.fill, given) if is_filling else (made.drain, taken)
        number = turn * count + affine_dim(1)
        half = (affine_dim(0) + (not is_filling)) % 2 if rounds > 1 else affine_constant(0)
        inside = map_of(2, [half, address_at(walk, affine_dim(1))])
        outside = map_of(2, place_at(made.source, number) if is_filling else [number])
        if is_filling:
            builder.affine_store(builder.affine_load(consumer.value, outside, [p, x]), tile, inside, [p, x])
        else:
            builder.affine_store(builder.affine_load(tile, inside, [p, x]), result, outside, [p, x])

    if rounds > 1:
        inner, x = inner_loop(inside_of(outer, builder), max(given, taken), "x")
        last, at_x = affine_constant(rounds - 1) - affine_dim(0), affine_dim(1)
        side(inner, True, x, [last] + [affine_constant(given - 1) - at_x] * (given < taken))
        side(inner, False, x, [affine_dim(0) - 1] + [affine_constant(taken - 1) - at_x] * (taken < given))
    else:
        for is_filling, count, name in ((True, given, "x"), (False, taken, "y")):
            inner, x = inner_loop(inside_of(outer, builder), count, name)
            side(inner, is_filling, x, [])
    read_in_order(get, get.loads[0].loops[consumer.fixed : get.depth], result)
    return ConverterNest(nest, tile_name, result_name)
