"""pipeline: annotate a loop so that its iterations overlap."""

from __future__ import annotations

from ..errors import ScheduleError
from ..ir.builder import i32_attr, unit_attr
from ..ir.module import Module
from .step.handles import Loop
from .step.primitive import primitive
from .step.resolve import find_loop, loop_note


@primitive(any_layout=True)
def pipeline(module: Module, loop: Loop, initiation_interval: int = 1, rewind: bool = False) -> None:
    """Start an iteration of `loop` every `initiation_interval` cycles; `rewind` overlaps whole runs of the loop.

        for i in range(n):            #pragma pipeline II=initiation_interval
            S(i)               ->     for i in range(n):
                                          S(i)

    Always legal; whether the interval can be reached is a matter of the target and is reported there.
    Refused: an interval below 1. Source: Allo paper, Table 2.
    """
    view = find_loop(module, loop)
    if initiation_interval < 1:
        raise ScheduleError(
            f"initiation_interval must be at least 1, got {initiation_interval}", notes=[loop_note(view)]
        )
    view.op.attributes["allo.pipeline"] = i32_attr(initiation_interval)
    if rewind:
        view.op.attributes["allo.rewind"] = unit_attr()
    elif "allo.rewind" in view.op.attributes:
        del view.op.attributes["allo.rewind"]
