"""split: one loop becomes two, the inner one of a given extent."""

from __future__ import annotations

from mlir import ir

from ..errors import ScheduleError
from ..ir.builder import Builder, affine_constant, affine_dim, index_type
from ..ir.context import context
from ..ir.module import Module
from ..ir.walk import constant_bounds, induction_variable
from .nest.rewrite import check_free_name, compose_affine, constant_for, loop_attributes, move_body
from .step.handles import Loop
from .step.primitive import primitive
from .step.resolve import find_loop, loop_note


@primitive(any_layout=True)
def split(module: Module, loop: Loop, factor: int) -> tuple[Loop, Loop]:
    """Tile `loop` by `factor`; a tail is guarded. Returns the handles of the outer and the inner loop.

        for i in range(n):            for i.outer in range(ceil(n / factor)):
            S(i)               ->         for i.inner in range(factor):
                                              if factor * i.outer + i.inner < n:    # only if factor does not divide n
                                                  S(factor * i.outer + i.inner)

    Always legal. Refused: a factor below 1, run-time bounds, a loop annotated before. Source: Allo paper, Table 2.
    """
    view = find_loop(module, loop)
    bounds = constant_bounds(view.op)
    if factor < 1:
        raise ScheduleError(f"factor must be at least 1, got {factor}", notes=[loop_note(view)])
    if bounds is None:
        raise ScheduleError(
            f"the bounds of loop '{loop.name}' are not constants",
            hint="split a loop whose extent is known when the kernel is compiled",
            notes=[loop_note(view)],
        )
    outer_name, inner_name = f"{loop.name}.outer", f"{loop.name}.inner"
    attributes = loop_attributes(view)
    check_free_name(view, outer_name, inner_name)

    lower, upper, step = bounds
    trips = max(0, -(-(upper - lower) // step))
    builder = Builder.before(view.op)
    outer = constant_for(builder, -(-trips // factor), {**attributes, "allo.name": outer_name})
    builder.point = ir.InsertionPoint.at_block_terminator(outer.regions[0].blocks[0])
    inner = constant_for(builder, factor, {"allo.name": inner_name})
    builder.point = ir.InsertionPoint.at_block_terminator(inner.regions[0].blocks[0])
    ivs = [induction_variable(outer), induction_variable(inner)]
    position = affine_dim(0) * factor + affine_dim(1)
    if trips % factor:
        inside = ir.IntegerSet.get(2, 0, [affine_constant(trips - 1) - position], [False], context())
        guard = builder.affine_if(inside, ivs, has_else=False)
        builder.point = ir.InsertionPoint.at_block_terminator(guard.regions[0].blocks[0])
    value_map = ir.AffineMap.get(2, 0, [position * step + lower], context())
    value = builder.value("affine.apply", index_type(), ivs, {"map": ir.AffineMapAttr.get(value_map)})
    move_body(view.op, builder.point.block, value)
    compose_affine([module.function(loop.function)])
    return Loop(loop.function, loop.nest, outer_name), Loop(loop.function, loop.nest, inner_name)
