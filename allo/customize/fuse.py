"""fuse: perfectly nested loops, or loops one after the other, become one."""

from __future__ import annotations

from itertools import pairwise

from mlir import ir

from ..errors import ScheduleError
from ..ir.builder import Builder, affine_constant, affine_dim, index_type, string_attr
from ..ir.context import context
from ..ir.module import Module
from ..ir.walk import LoopView, constant_bounds, induction_variable, trip_count
from ..poly import extract, merge_violation, moved_past
from .nest.band import perfect_band
from .nest.merge import matching, merge
from .nest.numbered import count_to
from .nest.rewrite import check_free_name, compose_affine, constant_for, loop_attributes
from .step.handles import Loop
from .step.legality import demand, demand_still_parallel, parallel_loops
from .step.primitive import primitive
from .step.resolve import find_loop, find_loops, loop_note


@primitive(any_layout=True)
def fuse(module: Module, *loops: Loop, assume_safe: bool = False) -> Loop:
    """Join perfectly nested loops, given from the outermost to the innermost, or loops one after the other in a block,
    given in the order of the text. Returns the handle of the new loop.

        for i in range(m):            for i_j_fused in range(m * n):
            for j in range(n):   ->       S(i_j_fused // n, i_j_fused % n)
                S(i, j)

    Conditions on loop variables between nested loops move inwards, which is always legal. Of loops in a row, iteration
    k of each runs in iteration k of the new loop, in the nest of the last one; of a shorter one, a condition says
    which. Refused: fewer than two loops, nested loops that are not directly nested in this order, or with bounds that
    are no constants; loops in a row with a dependence that would be turned around, with both statements and a pair of
    iterations, or of different bounds that are no constants; annotated loops. `assume_safe=True` accepts what cannot
    be decided. Source: Allo paper, Table 2.
    """
    if len(loops) < 2:
        raise ScheduleError(f"at least two loops are needed, got {len(loops)}")
    found = find_loops(module, loops)
    if len(set(loops)) == len(loops) and all(view.op.block == found[0].op.block for view in found):
        return _fuse_row(module, loops, found, assume_safe=assume_safe)
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


def _fuse_row(module: Module, loops: tuple[Loop, ...], views: list[LoopView], *, assume_safe: bool) -> Loop:
    """Merge each loop with the next one of the block."""
    body = [op.operation for op in views[0].op.block.operations]
    in_text = sorted(views, key=lambda view: body.index(view.op))
    if in_text != views:
        order = ", ".join(f'"{view.name}"' for view in in_text)
        raise ScheduleError("the loops are not given in the order of the text", hint=f"write s.fuse({order})")
    for view in views:
        if view.op.name != "affine.for":
            raise ScheduleError(f"loop '{view.name}' has run-time bounds", notes=[loop_note(view)])
        loop_attributes(view)
    name, last = "_".join(view.name for view in views) + "_fused", loops[-1]
    check_free_name(views[-1], name)
    parallel = parallel_loops(module, last)
    for first, second in pairwise(loops):
        _fuse_pair(module, first, second, assume_safe=assume_safe)
    find_loop(module, last).op.attributes["allo.name"] = string_attr(name)
    compose_affine([module.function(last.function)])
    demand_still_parallel(module, Loop(last.function, last.nest, name), parallel, assume_safe=assume_safe)
    return Loop(last.function, last.nest, name)


def _fuse_pair(module: Module, first: Loop, second: Loop, *, assume_safe: bool) -> None:
    """Let each iteration of the first loop run at the start of that iteration of the second one."""
    views = [find_loop(module, loop) for loop in (first, second)]
    function = module.function(first.function)
    if not matching(views[:1], views[1:]):
        trips = [count for view in views if (count := trip_count(view.op)) is not None]
        if len(trips) < len(views):
            raise ScheduleError(
                f"loops '{first.name}' and '{second.name}' have different bounds, which are not all constants",
                hint="fuse loops that run over the same iterations",
                notes=[loop_note(view) for view in views],
            )
        for view in views:
            count_to(view, max(trips))
        compose_affine([function])
        views = [find_loop(module, loop) for loop in (first, second)]
    roots = dict.fromkeys(view.chain[0].op for view in views)
    model = extract(function, *roots)
    what = f"loops '{first.name}' and '{second.name}' cannot be fused"
    demand(moved_past(model, views[0].op, views[1].op), what, assume_safe=assume_safe)
    demand(merge_violation(model, [views[0].op], [views[1].op]), what, assume_safe=assume_safe)
    merge(module, first.function, views[:1], views[1:])


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
