"""unroll: annotate a loop so that copies of its body run side by side."""

from __future__ import annotations

from ..errors import ScheduleError
from ..ir.builder import i32_attr
from ..ir.module import Module
from ..ir.walk import trip_count
from .step.handles import Loop
from .step.primitive import primitive
from .step.resolve import find_loop, loop_note


@primitive(any_layout=True)
def unroll(module: Module, loop: Loop, factor: int = 0) -> None:
    """Unroll `loop` by `factor`; 0 means fully.

        for i in range(n):            for i in range(0, n, factor):
            S(i)               ->         S(i); S(i + 1); ...; S(i + factor - 1)

    Always legal: the order of the statements stays. Backends do it, so the printed loop only carries `allo.unroll`.
    Refused: a negative factor, a factor above the trip count, full unrolling with run-time bounds.
    Source: Allo paper, Table 2.
    """
    view = find_loop(module, loop)
    trips = trip_count(view.op)
    if view.op.name == "scf.while":
        raise ScheduleError("a `while` loop cannot be unrolled", notes=[loop_note(view)])
    if factor < 0:
        raise ScheduleError(f"factor must not be negative, got {factor}", notes=[loop_note(view)])
    if factor == 0 and trips is None:
        raise ScheduleError(
            f"loop '{loop.name}' has run-time bounds and cannot be unrolled fully",
            hint="give a factor",
            notes=[loop_note(view)],
        )
    if trips is not None and factor > trips:
        raise ScheduleError(
            f"factor {factor} is larger than the trip count {trips} of loop '{loop.name}'",
            hint="use factor=0 to unroll fully",
            notes=[loop_note(view)],
        )
    view.op.attributes["allo.unroll"] = i32_attr(factor)
