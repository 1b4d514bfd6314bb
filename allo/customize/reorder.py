"""reorder: permute loops that are nested in each other."""

from __future__ import annotations

from mlir import ir

from ..errors import ScheduleError
from ..ir.builder import Builder
from ..ir.module import Module
from ..ir.walk import LoopView, bound_operands, induction_variable
from ..poly import extract, order_violation
from .band import perfect_band
from .handles import Loop
from .legality import demand, demand_still_parallel, parallel_loops
from .loop_rewrite import move_body
from .primitive import primitive
from .resolve import loop_note


@primitive
def reorder(module: Module, *loops: Loop, assume_safe: bool = False) -> None:
    """Permute `loops`, given in the new order from the outermost to the innermost; others keep their places.

        for i in range(m):            for j in range(n):
            for j in range(n):   ->       for i in range(m):
                S(i, j)                       S(i, j)

    Refused: an order that a dependence forbids, with the statements and one pair of iterations; loops with a
    statement between them; a loop whose bounds depend on a loop that would be inside it; an order in which a loop
    that runs in parallel carries a dependence. `assume_safe=True` accepts what cannot be decided.
    Source: Allo paper, Table 2; legality by the polyhedral model.
    """
    if len(loops) < 2:
        raise ScheduleError(f"at least two loops are needed, got {len(loops)}")
    band = perfect_band(module, loops)
    named = {loop.name: view for view in band for loop in loops if loop.name == view.name}
    wanted = iter([named[loop.name] for loop in loops])
    order = [next(wanted) if view.name in named else view for view in band]
    _check_bounds(order)
    if [view.name for view in order] == [view.name for view in band]:
        return
    model = extract(module.function(loops[0].function))
    answer = order_violation(model, [view.op for view in band], [view.op for view in order])
    names = ", ".join(view.name for view in order)
    demand(answer, f"the loops cannot run in the order {names}", assume_safe=assume_safe)
    parallel = parallel_loops(module, loops[0])
    _rebuild(band, order)
    demand_still_parallel(module, loops[0], parallel, assume_safe=assume_safe)


def _check_bounds(order: list[LoopView]) -> None:
    """A loop must be inside of all loops that its bounds depend on."""
    for position, view in enumerate(order):
        operands = [operand for side in bound_operands(view.op) for operand in side]
        for inner in order[position + 1 :]:
            if induction_variable(inner.op) in operands:
                raise ScheduleError(
                    f"the bounds of loop '{view.name}' depend on '{inner.name}', which must stay outside of it",
                    notes=[loop_note(view), loop_note(inner)],
                )


def _rebuild(band: list[LoopView], order: list[LoopView]) -> None:
    """Build the loops anew in `order`, move the innermost body into them, and erase the old ones."""
    builder = Builder.before(band[0].op)
    nest = band[0].op.attributes.get("allo.nest")
    new_variables: list[tuple[ir.Value, ir.Value]] = []
    for position, view in enumerate(order):
        attributes = {
            name: attribute
            for name, attribute in view.op.attributes.items()
            if name.startswith("allo.") and (name != "allo.nest" or view is not band[0])
        }
        if position == 0 and nest is not None:
            attributes["allo.nest"] = nest
        builder.loc = view.op.location
        maps = [ir.AffineMapAttr(view.op.attributes[n]).value for n in ("lowerBoundMap", "upperBoundMap")]
        operands = [
            [next((new for old, new in new_variables if old == value), value) for value in side]
            for side in bound_operands(view.op)
        ]
        step = ir.IntegerAttr(view.op.attributes["step"]).value
        made = builder.affine_for((maps[0], operands[0]), (maps[1], operands[1]), step, attributes)
        new_variables.append((induction_variable(view.op), induction_variable(made)))
        builder.point = ir.InsertionPoint.at_block_terminator(made.regions[0].blocks[0])
    innermost = builder.point.block
    body = band[-1].op
    last = induction_variable(body)
    for old, new in new_variables:
        if old != last:
            old.replace_all_uses_with(new)
    move_body(body, innermost, next(new for old, new in new_variables if old == last))
    band[0].op.erase()
