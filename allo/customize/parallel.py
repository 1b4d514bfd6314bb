"""parallel: annotate a loop whose iterations may run at the same time."""

from __future__ import annotations

from ..errors import ScheduleError
from ..ir.builder import unit_attr
from ..ir.module import Module
from ..poly import carried_by, extract
from .step.handles import Loop
from .step.legality import demand
from .step.primitive import primitive
from .step.resolve import find_loop, loop_note


@primitive(any_layout=True)
def parallel(module: Module, loop: Loop, assume_safe: bool = False) -> None:
    """Run the iterations of `loop` at the same time; on a CPU they are spread over its cores.

        for i in range(n):            parallel for i in range(n):
            S(i)               ->         S(i)

    Refused: a loop that carries a dependence (two iterations touch one element and one of them writes it), with
    the statements and one such pair of iterations; run-time bounds that are not affine. `assume_safe=True` accepts
    what cannot be decided. Source: data dependence, decided on the polyhedral model.
    """
    view = find_loop(module, loop)
    if view.op.name != "affine.for":
        raise ScheduleError(
            f"loop '{loop.name}' has run-time bounds and cannot run in parallel", notes=[loop_note(view)]
        )
    answer = carried_by(extract(module.function(loop.function), view.chain[0].op), view.op)
    demand(answer, f"loop '{loop.name}' cannot run in parallel", assume_safe=assume_safe)
    view.op.attributes["allo.parallel"] = unit_attr()
