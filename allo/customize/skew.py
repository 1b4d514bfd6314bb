"""skew: shift the iterations of an inner loop by a multiple of an outer one."""

from __future__ import annotations

from mlir import ir

from ..errors import ScheduleError
from ..ir.builder import Builder, affine_dim, index_type
from ..ir.context import context
from ..ir.module import Module
from ..ir.walk import bound_operands, induction_variable
from .nest.rewrite import compose_affine, loop_attributes, move_body
from .step.handles import Loop
from .step.primitive import primitive
from .step.resolve import find_loop, loop_note


@primitive(any_layout=True)
def skew(module: Module, loop: Loop, inner: Loop, factor: int) -> None:
    """Let the variable of `inner` count from `factor * loop` on; the loops keep their names.

        for i in range(m):            for i in range(m):
            for j in range(n):   ->       for j in range(factor * i, factor * i + n):
                S(i, j)                       S(i, j - factor * i)

    Always legal, for the order of the iterations stays; `reorder` and `parallel` can then use another order, such as
    the wavefronts of a stencil. Refused: a loop that is not inside of `loop`, a factor of 0, run-time bounds, a loop
    of processing elements. Source: Wolfe, "Loop skewing: the wavefront method revisited", 1986.
    """
    outer_view, view = find_loop(module, loop), find_loop(module, inner)
    notes = [loop_note(outer_view), loop_note(view)]
    if outer_view.op not in [member.op for member in view.chain[:-1]]:
        raise ScheduleError(f"loop '{inner.name}' is not inside of loop '{loop.name}'", notes=notes)
    if factor == 0:
        raise ScheduleError("a factor of 0 skews nothing", notes=[loop_note(view)])
    for member in (outer_view, view):
        if member.op.name != "affine.for":
            raise ScheduleError(f"loop '{member.name}' has run-time bounds", notes=[loop_note(member)])

    loop_attributes(view, refused=("allo.spatial",))
    outer = induction_variable(outer_view.op)
    bounds = []
    for name, operands in zip(("lowerBoundMap", "upperBoundMap"), bound_operands(view.op), strict=True):
        bounds.append(_shifted(ir.AffineMapAttr(view.op.attributes[name]).value, operands, outer, factor))
    attributes = {name: value for name, value in view.op.attributes.items() if name.startswith("allo.")}
    builder = Builder.before(view.op)
    step = ir.IntegerAttr(view.op.attributes["step"]).value
    made = builder.affine_for(bounds[0], bounds[1], step, attributes)
    builder.point = ir.InsertionPoint.at_block_begin(made.regions[0].blocks[0])
    back = ir.AffineMap.get(2, 0, [affine_dim(0) - affine_dim(1) * factor], context())
    operands = [induction_variable(made), outer]
    value = builder.value("affine.apply", index_type(), operands, {"map": ir.AffineMapAttr.get(back)})
    move_body(view.op, made.regions[0].blocks[0], value)
    compose_affine([module.function(loop.function)])


def _shifted(
    bound: ir.AffineMap, operands: list[ir.Value], outer: ir.Value, factor: int
) -> tuple[ir.AffineMap, list[ir.Value]]:
    """Each result of the bound with `factor * outer` added; `outer` becomes one more dimension in front."""
    results = [result.compose(_moved(bound)) + affine_dim(0) * factor for result in bound.results]
    return ir.AffineMap.get(bound.n_dims + 1, bound.n_symbols, results, context()), [outer, *operands]


def _moved(bound: ir.AffineMap) -> ir.AffineMap:
    """Takes each dimension to the next one; the symbols stay."""
    dims = [affine_dim(position + 1) for position in range(bound.n_dims)]
    return ir.AffineMap.get(bound.n_dims + 1, bound.n_symbols, dims, context())
