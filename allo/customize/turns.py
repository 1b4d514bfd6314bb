"""Sums of several iterations of a loop that take turns, and what these iterations take of arrays, taken before."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from mlir import ir

from ..ir.builder import Builder, affine_constant, affine_dim, string_attr
from ..ir.context import context, unknown_location
from ..ir.module import Module
from ..ir.names import unique_name
from ..ir.walk import LoopView, buffers_of, constant_bounds, induction_variable, loops_of, trip_count
from ..poly import Access, Model, extract
from .array.copy_part import copy_part
from .function.calls import function_around
from .nest.rewrite import compose_affine, constant_for
from .reorder import permute
from .split import tiled
from .step.handles import Buffer, Loop
from .step.resolve import find_loop


def least_tile(trips: int, needed: int) -> int:
    """The least divisor of a trip count that is at least as large as needed; all trips if none is."""
    return next(size for size in range(1, trips + 1) if trips % size == 0 and (size >= needed or size == trips))


def iterations(views: Sequence[LoopView]) -> int:
    """Of loops that are nested in one another; loops of unknown trip counts count once."""
    return prod(trip_count(view.op) or 1 for view in views)


def why_not(model: Model, view: LoopView, around: Sequence[LoopView], inside: Sequence[LoopView]) -> str:
    """Why iterations of a loop cannot take turns; `around` are the loops of the body inside of it, of which those
    `inside` are not of the sums. Empty if they can."""
    if any(constant_bounds(one.op) != (0, trip_count(one.op), 1) for one in (view, *around)):
        return f"the bounds of loops inside of '{view.name}' are not constant, or do not begin at 0"
    body = around[-1].op
    written = [access for access in model.inside(model.loop(view.op)) if access.is_write]
    if any(not access.exact or access.quotients for access in written):
        return "which elements it writes is not plain"
    for access in taken_reads(model, view, body):
        known = {loop.variable for loop in access.loops}
        outside = any(at not in known for form in access.subscripts for at, _ in form.terms)
        parent = access.op.parent
        if outside or access.quotients or not access.exact or parent is None or parent.operation != body:
            return f"which elements of '{access.buffer.name}' it takes is not plain"
        if any(_uses(access, model, one) for one in inside):
            return f"each sum takes an element of its own of '{access.buffer.name}'"
    return ""


def take_turns(module: Module, loop: Loop, tile: int, sums: Sequence[str], body: str) -> None:
    """Let sums of `tile` iterations of a loop around the loops `sums` take turns in the loop `body`, the innermost one.

        for i in range(m):                      for i.outer in range(m / 4):
            for k in range(p):                      for i_take in range(4):
                for j in range(n):      ->              for k_take in range(p): A_turns[i_take, k_take] = A[...]
                    C[i, j] += A[i, k] * ...        for k in range(p):
                                                        for i.inner in range(4):
                                                            for j in range(n):
                                                                C[...] += A_turns[i.inner, k] * ...

    Elements of local arrays are taken in the order in which they were read before, as streams bring them.
    Raises ScheduleError where `reorder` refuses the order.
    """
    outer, inner = tiled(module, loop, tile)
    view, last = find_loop(module, inner), find_loop(module, Loop(loop.function, loop.nest, body))
    around = last.chain[len(view.chain) - 1 :]
    model = extract(module.function(loop.function), view.chain[0].op)
    for access in taken_reads(model, view, last.op):
        _take(access, model, around)
    inside = [one.name for one in around[1:] if one.name not in sums]
    permute(module, [Loop(loop.function, loop.nest, name) for name in (*sums, inner.name, *inside)])
    _sum_in_copy(module, find_loop(module, outer))


def _sum_in_copy(module: Module, outer: LoopView) -> None:
    """Sum up in an array that holds the sums of one iteration of a loop, and hand them on in their order."""
    function = function_around(outer.op)
    model = extract(function, outer.chain[0].op)
    accesses = [access for access in model.inside(model.loop(outer.op)) if access.is_write]
    for buffer in dict.fromkeys(access.buffer for access in accesses if not access.buffer.scope):
        assert buffer.value is not None
        model = extract(function, outer.chain[0].op)
        copy_part(function, model, Buffer(function.name.value, buffer.name), buffer.value, outer, as_used=True)
    compose_affine([function])


def taken_reads(model: Model, view: LoopView, body: ir.Operation) -> list[Access]:
    """The reads of local arrays in a loop that another loop around it changes, if its nest does not write them."""
    written = {access.buffer.label for access in model.inside(model.loop(view.chain[0].op)) if access.is_write}
    return [
        access
        for access in model.inside(model.loop(body))
        if not access.is_write and access.buffer.origin == "alloc" and access.buffer.label not in written
        if not access.buffer.scope and _uses(access, model, view)
    ]


def _uses(access: Access, model: Model, view: LoopView) -> bool:
    variable = model.loop(view.op).variable
    return any(variable in dict(form.terms) for form in access.subscripts)


def _take(access: Access, model: Model, around: Sequence[LoopView]) -> None:
    """Read what an access reads in the iterations of loops before the outermost of them begins."""
    array, function = access.buffer.value, function_around(access.op)
    assert array is not None
    used = [view for view in around if (trip_count(view.op) or 1) > 1 and _uses(access, model, view)]
    extents = [trip_count(view.op) or 1 for view in used]
    name = unique_name(f"{access.buffer.name}_turns", set(buffers_of(function)))
    taken = {view.name for view in loops_of(function) if view.nest == around[0].nest}
    builder = Builder(ir.InsertionPoint(around[0].op), access.op.location)
    kind = ir.MemRefType.get(extents, ir.MemRefType(array.type).element_type, loc=unknown_location())
    tile = builder.alloc(kind, name)
    ones = {model.loop(view.op).variable for view in around if view not in used}
    values = {loop.variable: induction_variable(loop.op) for loop in access.loops if loop.variable not in ones}
    for view, extent in zip(used, extents, strict=True):
        own = unique_name(f"{view.name.removesuffix('.inner')}_take", taken)
        made = constant_for(builder, extent, {"allo.name": string_attr(own)})
        values[model.loop(view.op).variable] = induction_variable(made)
        builder.point = ir.InsertionPoint.at_block_terminator(made.regions[0].blocks[0])
    places, order = [], list(values)
    for form in access.subscripts:
        terms = [affine_dim(order.index(at)) * int(by) for at, by in form.terms if at not in ones]
        places.append(sum(terms, affine_constant(int(form.constant))))
    load = builder.affine_load(array, ir.AffineMap.get(len(order), 0, places, context()), list(values.values()))
    inside = ir.AffineMap.get_identity(len(used), context())
    builder.affine_store(load, tile, inside, [values[model.loop(view.op).variable] for view in used])
    builder.point = ir.InsertionPoint(access.op)
    again = builder.affine_load(tile, inside, [induction_variable(view.op) for view in used])
    access.op.results[0].replace_all_uses_with(again)
    access.op.erase()
