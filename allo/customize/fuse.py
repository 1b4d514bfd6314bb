"""fuse: perfectly nested loops become one."""

from __future__ import annotations

from mlir import ir

from ..errors import ScheduleError
from ..ir.builder import Builder, affine_constant, affine_dim, index_type
from ..ir.context import context
from ..ir.module import Module
from ..ir.walk import LoopView, constant_bounds, induction_variable, trip_count
from .nest.band import perfect_band
from .nest.rewrite import check_free_name, compose_affine, constant_for, loop_attributes
from .step.handles import Loop
from .step.primitive import primitive
from .step.resolve import loop_note


@primitive(any_layout=True)
def fuse(module: Module, *loops: Loop) -> Loop:
    """Join perfectly nested loops, given from the outermost to the innermost. Returns the handle of the new loop.

        for i in range(m):            for i_j_fused in range(m * n):
            for j in range(n):   ->       S(i_j_fused // n, i_j_fused % n)
                S(i, j)

    Conditions on loop variables between the loops move inwards. Always legal. Refused: fewer than two loops, loops
    that are not directly nested in this order, run-time bounds, annotated loops. Source: Allo paper, Table 2.
    """
    if len(loops) < 2:
        raise ScheduleError(f"at least two loops are needed, got {len(loops)}")
    views = perfect_band(module, loops)
    _check_fusable(loops, views)
    name = "_".join(view.name for view in views) + "_fused"
    check_free_name(views[0], name)

    extents = [trip_count(view.op) or 0 for view in views]
    total = 1
    for extent in extents:
        total *= extent
    if total >= 2**63:
        raise ScheduleError(f"the fused loop would have {total} iterations, more than 64 bits can count")
    builder = Builder.before(views[0].op)
    fused = constant_for(builder, total, {**loop_attributes(views[0]), "allo.name": name})
    variable = induction_variable(fused)
    builder.point = ir.InsertionPoint.at_block_terminator(fused.regions[0].blocks[0])
    stride = total
    for position, (view, extent) in enumerate(zip(views, extents, strict=True)):
        bounds = constant_bounds(view.op)
        assert bounds is not None
        stride = stride // extent if extent else 1
        count = ir.AffineExpr.get_floor_div(affine_dim(0), affine_constant(max(stride, 1)))
        if position:
            count = ir.AffineExpr.get_mod(count, affine_constant(max(extent, 1)))
        value_map = ir.AffineMap.get(1, 0, [count * bounds[2] + bounds[0]], context())
        value = builder.value(
            "affine.apply", index_type(), [variable], {"map": ir.AffineMapAttr.get(value_map)}
        )
        induction_variable(view.op).replace_all_uses_with(value)
    innermost = views[-1].op
    end = builder.point.block.operations[len(builder.point.block.operations) - 1]
    for op in list(innermost.regions[0].blocks[0].operations)[:-1]:
        op.operation.move_before(end)
    views[0].op.erase()
    compose_affine([module.function(loops[0].function)])
    return Loop(loops[0].function, loops[0].nest, name)


def _check_fusable(loops: tuple[Loop, ...], views: list[LoopView]) -> None:
    """`views`, from the first to the last of `loops`, must be these loops in this order, with constant bounds."""
    between = [view for view in views if view.name not in [loop.name for loop in loops]]
    if between:
        raise ScheduleError(
            f"loops '{views[0].name}' and '{views[-1].name}' are not directly nested: "
            f"'{between[0].name}' is between them",
            notes=[loop_note(between[0])],
        )
    if tuple(view.name for view in views) != tuple(loop.name for loop in loops):
        order = ", ".join(f'"{view.name}"' for view in views)
        raise ScheduleError(
            "the loops are not given from the outermost to the innermost", hint=f"write s.fuse({order})"
        )
    for view in views:
        if constant_bounds(view.op) is None:
            raise ScheduleError(
                f"the bounds of loop '{view.name}' are not constants", notes=[loop_note(view)]
            )
        loop_attributes(view)
