"""reorder: permute loops that are nested in each other."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from mlir import ir

from ..errors import ScheduleError
from ..ir.module import Module
from ..ir.processes import DATAFLOW
from ..ir.walk import LoopView, statements
from ..poly import Reductions, Undecided, Violation, extract, order_violation, writes_again
from .nest.band import nested_band
from .nest.bounds import bounds_in_order
from .nest.distribute import groups_between
from .nest.guards import sink_guards
from .nest.rebuild import rebuild
from .step.handles import Loop
from .step.legality import demand, demand_still_parallel, parallel_loops
from .step.primitive import primitive


@primitive(any_layout=True)
def reorder(module: Module, *loops: Loop, assume_safe: bool = False, reassociate: bool = False) -> None:
    """Permute `loops`, given in the new order from the outermost to the innermost; others keep their places.

        for i in range(m):            for i_1 in range(m): T(i_1)
            T(i)               ->     for j in range(n):
            for j in range(n):            for i in range(m):
                S(i, j)                       S(i, j)

    Statements between the loops get loops of their own, before or after; conditions between them move inwards; bounds
    that depend on a loop that moves inside are computed anew. The updates of a reduction (`x += e`, `x = x - a + b`,
    `x = max(x, e)`, `if e > x: x = e`, also through a variable of one iteration) may change their order where the
    result is exact (integers and fixed-point numbers that wrap, maxima of integers) or with `reassociate=True`.
    A dependence may be turned around where that changes no value: each read still sees the write that it saw, and
    each element keeps its last one (scratch space that is filled before it is read, elements that are written again,
    also by what follows the nest).
    Refused: an order that a dependence forbids, with the statements and one pair of iterations; a value that would
    have to be kept for several iterations; bounds that depend on a loop that would be inside and are not linear, or
    steps other than 1 with them; an order in which a loop that runs in parallel carries a dependence.
    `assume_safe=True` accepts what cannot be decided. Source: Allo paper, Table 2; legality by the polyhedral model,
    of values by Feautrier (IJPP 1991).
    """
    permute(module, loops, assume_safe=assume_safe, reassociate=reassociate)


def permute(module: Module, loops: Sequence[Loop], *, assume_safe: bool = False, reassociate: bool = False) -> None:
    """Permute loops, given in the new order; what `reorder` does and refuses."""
    if len(loops) < 2:
        raise ScheduleError(f"at least two loops are needed, got {len(loops)}")
    band = nested_band(module, loops)
    named = {loop.name: view for view in band for loop in loops if loop.name == view.name}
    wanted = iter([named[loop.name] for loop in loops])
    order = [next(wanted) if view.name in named else view for view in band]
    if [view.name for view in order] == [view.name for view in band]:
        return
    sink_guards(band)
    groups = groups_between(band, order)
    bounds = bounds_in_order(band, order, groups)
    answer = _violation(module.function(loops[0].function), band, order, reassociate)
    names = ", ".join(view.name for view in order)
    demand(answer, f"the loops cannot run in the order {names}", assume_safe=assume_safe)
    parallel = parallel_loops(module, loops[0])
    rebuild(module.function(loops[0].function), band, order, groups, bounds)
    demand_still_parallel(module, loops[0], parallel, assume_safe=assume_safe)


def _violation(
    function: ir.OpView, band: list[LoopView], order: list[LoopView], reassociate: bool
) -> Violation | Undecided | None:
    """What forbids the order; what follows the nest is looked at if it is forbidden otherwise."""
    nest = band[0].chain[0].op
    allowed = partial(
        order_violation,
        old_loops=[view.op for view in band],
        new_loops=[view.op for view in order],
        reductions=Reductions.ANY if reassociate else Reductions.EXACT,
    )
    answer = allowed(extract(function, nest))
    runs_in_turn = nest.parent == function.operation and DATAFLOW not in function.operation.attributes
    if isinstance(answer, Violation) and runs_in_turn:
        model = extract(function, nest, statements(nest.block)[-1])
        if writes_again(model, nest) and allowed(model, to_end=True) is None:
            return None
    return answer
