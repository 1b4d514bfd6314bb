"""unroll: annotate a loop so that copies of its body run side by side."""

from __future__ import annotations

from ..errors import ScheduleError
from ..ir.builder import i32_attr
from ..ir.module import Module
from ..ir.walk import LoopView, trip_count
from ..poly import trips_of
from .nest.numbered import count_to
from .nest.rewrite import compose_affine
from .step.handles import Loop
from .step.primitive import primitive
from .step.resolve import find_loop, loop_note


@primitive(any_layout=True)
def unroll(module: Module, loop: Loop, factor: int = 0) -> None:
    """Unroll `loop` by `factor`; 0 means fully.

        for i in range(n):            for i in range(0, n, factor):
            S(i)               ->         S(i); S(i + 1); ...; S(i + factor - 1)

    Always legal: the order of the statements stays. Backends do it, so the printed loop only carries `allo.unroll`.
    A loop whose bounds depend on loops around it, such as `range(i)`, is unrolled fully with as many copies as it ever
    has iterations: it becomes a loop with constant bounds, and a condition says which of the copies run.
    Refused: a negative factor, a factor above the trip count, full unrolling of a loop with no greatest trip count.
    Source: Allo paper, Table 2.
    """
    view = find_loop(module, loop)
    trips = trip_count(view.op)
    if view.op.name == "scf.while":
        raise ScheduleError("a `while` loop cannot be unrolled", notes=[loop_note(view)])
    if factor < 0:
        raise ScheduleError(f"factor must not be negative, got {factor}", notes=[loop_note(view)])
    if trips is not None and factor > trips:
        raise ScheduleError(
            f"factor {factor} is larger than the trip count {trips} of loop '{loop.name}'",
            hint="use factor=0 to unroll fully",
            notes=[loop_note(view)],
        )
    view.op.attributes["allo.unroll"] = i32_attr(factor)
    if factor == 0 and trips is None:
        count_to(view, _most(view))
        compose_affine([module.function(loop.function)])


def _most(view: LoopView) -> int:
    """The greatest number of iterations of a loop without constant bounds."""
    most = trips_of(view.op).greatest if view.op.name == "affine.for" else None
    if most is None:
        raise ScheduleError(
            f"loop '{view.name}' has run-time bounds and cannot be unrolled fully: it has no greatest trip count",
            hint=f'give a factor, or s.split("{view.name}", factor) and unroll the inner loop',
            notes=[loop_note(view)],
        )
    return most
