"""A primitive as a user of the table would write it: the iterations of loops in the other order."""

from __future__ import annotations

from mlir import ir

from allo.customize.nest.rewrite import compose_affine
from allo.customize.step.handles import Loop
from allo.customize.step.primitive import primitive
from allo.customize.step.resolve import find_loop, loop_note
from allo.errors import ScheduleError
from allo.ir.builder import Builder, affine_dim, index_type, string_attr
from allo.ir.context import context
from allo.ir.module import Module
from allo.ir.walk import constant_bounds, induction_variable


@primitive(any_layout=True)
def reverse(module: Module, loop: Loop, by: int = 1, also: Loop | None = None) -> Loop:
    """Run the iterations of `loop`, and of another one, in the other order."""
    if also is not None:
        reverse_one(module, also, by)
    return reverse_one(module, loop, by)


def reverse_one(module: Module, loop: Loop, by: int) -> Loop:
    view = find_loop(module, loop)
    bounds = constant_bounds(view.op)
    if bounds is None or by != bounds[2]:
        raise ScheduleError(f"loop '{loop.name}' does not count by {by}", notes=[loop_note(view)])
    last = bounds[0] + bounds[1] - 1
    variable = induction_variable(view.op)
    builder = Builder(ir.InsertionPoint.at_block_begin(view.body), view.op.location)
    other = ir.AffineMap.get(1, 0, [affine_dim(0) * -1 + last], context())
    value = builder.value("affine.apply", index_type(), [variable], {"map": ir.AffineMapAttr.get(other)})
    variable.replace_all_uses_except(value, value.owner.operation)
    view.op.attributes["allo.name"] = string_attr(f"{loop.name}.reversed")
    compose_affine([module.function(loop.function)])
    return Loop(loop.function, loop.nest, f"{loop.name}.reversed")
